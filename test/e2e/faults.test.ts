/** Tests every fault of the simulated platform with the real gateway. Each fault has its outcome and affects only its own session. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Fault } from '#src/sandbox/interface.ts';
import { Account, type InstanceSeen } from '#test/support/account.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { openPlatform, type TestPlatform } from '#test/support/platform.ts';
import { openReceiver, type Receiver } from '#test/support/receivers.ts';
import { until } from '#test/support/until.ts';

/** Shortened times of the policy. Limits that a busy machine could reach without a fault exceed its stalls. */
const clock = {
  RECONNECT_MIN_MS: '100',
  RECONNECT_MAX_MS: '800',
  RECONNECT_STABLE_MS: '60000',
  OPEN_DEADLINE_MS: '8000',
  LOGIN_DEADLINE_MS: '8000',
  CLOSE_DEADLINE_MS: '1000',
  FRAME_SILENCE_MS: '10000',
  SEND_TIMEOUT_MS: '8000',
  REPLACED_RETRY_MIN_MS: '300',
  REPLACED_RETRY_MAX_MS: '500',
  HANDSHAKES_AT_ONCE: '10',
  HANDSHAKES_PER_SECOND: '50',
  CANARY_MIN_MS: '200',
  CANARY_MAX_MS: '400',
  // Many single sessions fail at the same time. Together they must not count as an outage.
  OUTAGE_LEAST: '1000',
};

let platform: TestPlatform;
let gateway: GatewayProcess;
let receiver: Receiver;
let bystanders: readonly Account[];
let created = 0;
const refused: Account[] = [];
const contact = '5511988880001';

const paired = async (): Promise<Account> => {
  created += 1;
  return (await Account.create(gateway, `55119000${String(created).padStart(5, '0')}`)).pair(platform);
};
const logins = ({ number }: Account): number => platform.sandbox.stats().logins.byNumber[number] ?? 0;

/** Asserts that texts go both ways, and that the contact can decrypt them. */
const works = async (account: Account): Promise<void> => {
  const out = `out of ${account.number} ${Math.random()}`;
  await account.sends(contact, out);
  await until(() => platform.sandbox.received(contact).some(({ text }) => text === out), 'the contact reads the text');
  const back = `back to ${account.number} ${Math.random()}`;
  await platform.sandbox.send(contact, account.number, { kind: 'text', text: back });
  await until(async () => (await account.messages(contact)).some(({ text }) => text === back), 'the answer is stored');
};

before(async () => {
  platform = await openPlatform();
  receiver = await openReceiver();
  gateway = new GatewayProcess({ platformUrl: platform.url, env: clock });
  await gateway.start();
  await gateway.call('POST', '/globalwebhook', { body: { url: receiver.url, events: ['connection', 'messages'] } });
  bystanders = [await paired(), await paired()];
});
after(async () => {
  await gateway.close();
  await receiver.close();
  await platform.close();
});

interface Row {
  readonly title: string;
  readonly fault: Fault;
  /** The expected `lastDisconnectReason`; null if the close is not reported, since the platform asked for it. */
  readonly reason: RegExp | null;
  /** The final state: the session returns by itself, or waits for a person. */
  readonly end: 'connected' | 'disconnected';
  /** The number of successful logins that the fault costs. */
  readonly logins: number;
}

const row = (
  title: string,
  fault: Fault,
  reason: RegExp | null,
  end: Row['end'] = 'connected',
  count = end === 'connected' ? 1 : 0,
): Row => ({
  title,
  fault,
  reason,
  end,
  logins: count,
});

/** Faults of a connected session. */
const live: readonly Row[] = [
  row('a close of the socket', { kind: 'close' }, /^428: connection lost$/),
  row('a close with 1011', { kind: 'close', code: 1011 }, /^428: connection lost$/),
  row('a reset', { kind: 'reset' }, /^428: connection lost$/),
  row('silence', { kind: 'silence' }, /^408: connection lost$/),
  row('stream error 503', { kind: 'streamError', code: 503 }, /^503: the platform is unavailable$/),
  row('stream error 515', { kind: 'streamError', code: 515 }, null),
  row('stream error 500', { kind: 'streamError', code: 500 }, /^500: closed for an unknown reason$/),
  row('a stream error without a code', { kind: 'streamError' }, /^500: closed for an unknown reason$/),
  row('the end of the stream', { kind: 'streamEnd' }, /^428: connection lost$/),
  row('another login', { kind: 'conflict' }, /^440: another login took over the session$/),
  row('a frame that cannot be read', { kind: 'corruptFrame' }, /^500: closed for an unknown reason$/),
  row('removal of the device', { kind: 'deviceRemoved' }, /^401: logged out from another device/, 'disconnected'),
];

/** Faults of the next login. The session restarts, so that there is a login. */
const atLogin: readonly Row[] = [
  row('login refused with 401', { kind: 'loginFailure', code: 401 }, /^401: logged out from another device/, 'disconnected'),
  row('login refused with 402', { kind: 'loginFailure', code: 402 }, /^402: the account is suspended/, 'disconnected'),
  row('login refused with 402 for a second', { kind: 'loginFailure', code: 402, ms: 1000 }, /^402: the account is suspended/),
  row('login refused with 403', { kind: 'loginFailure', code: 403 }, /^403: the account is locked$/, 'disconnected'),
  row('login refused with 406', { kind: 'loginFailure', code: 406 }, /^406: the account is banned$/, 'disconnected'),
  row('login refused with 409', { kind: 'loginFailure', code: 409 }, /^409: the platform refused the session$/, 'disconnected'),
  row('login refused with 411', { kind: 'loginFailure', code: 411 }, /^411: the platform refused the session$/, 'disconnected'),
  row('login refused with 500', { kind: 'loginFailure', code: 500 }, /^500: the platform is unavailable$/),
  row(
    'login refused with 599, five times',
    { kind: 'loginFailure', code: 599, times: 5 },
    /^599: closed for an unknown reason$/,
    'disconnected',
  ),
  row('login refused with 503', { kind: 'loginFailure', code: 503 }, /^503: the platform is unavailable$/),
  row('a login that is never answered', { kind: 'noLogin' }, /^408: connection lost$/, 'connected', 2),
  row('a close after the login', { kind: 'closeAfterLogin' }, /^428: connection lost$/, 'connected', 2),
];

/** Faults of the next connection of any session, so that one session at a time may run them. */
const opening: readonly Row[] = [
  row('an upgrade refused with 403', { kind: 'refuseUpgrade', code: 403 }, /^403: the platform refused the connection$/),
  row('an upgrade refused with 429', { kind: 'refuseUpgrade', code: 429 }, /^429: the platform refused the connection$/),
  row('an upgrade refused with 503', { kind: 'refuseUpgrade', code: 503 }, /^503: the platform refused the connection$/),
  row('a silent handshake', { kind: 'silentHandshake' }, /^408: connection lost$/),
  row('a handshake of garbage', { kind: 'garbageHandshake' }, /^closed for an unknown reason$/),
  row(
    'a wrong certificate',
    { kind: 'badCertificate' },
    /^the server did not prove that it is the platform: the intermediate certificate names/,
  ),
  row('login refused with 405', { kind: 'loginFailure', code: 405 }, /^405: the platform asks for a newer client$/),
];

/** Causes the fault and waits for its outcome. */
const undergo = async (
  account: Account,
  { fault, reason, end, logins: cost }: Row,
  provoke: () => Promise<unknown>,
): Promise<InstanceSeen> => {
  const before = { seen: await account.seen(), logins: logins(account) };
  await provoke();
  const seen = await until(
    async () => {
      const now = await account.seen();
      const told = reason === null || now.lastDisconnect !== before.seen.lastDisconnect;
      return told && now.status === end && logins(account) >= before.logins + cost && now;
    },
    () => `${fault.kind} leads to ${end} after ${cost} logins`,
  );
  if (reason !== null) assert.match(seen.lastDisconnectReason, reason);
  if (end === 'connected') await works(account);
  else refused.push(account);
  assert.equal(logins(account) - before.logins, cost, 'logins');
  return seen;
};

const hit = (account: Account, fault: Fault) => platform.sandbox.fault({ ...fault, number: account.number });
const restart = (account: Account) => account.call('POST', '/instance/reset');
const disconnectedEvent = (account: Account) =>
  receiver.wait(
    ({ type, token, body }) =>
      type === 'connection' && token === account.token && (body['instance'] as InstanceSeen).status === 'disconnected',
    'an event tells that it is disconnected',
  );

/** Faults that do not fit into a table of one fault and one end. */
const stories: readonly (readonly [title: string, tell: () => Promise<void>])[] = [
  [
    'logged out on the phone is told as LoggedOut, and the next connect asks for a new pairing',
    async () => {
      const account = await paired();
      await platform.sandbox.logout(account.number);
      await account.reaches('disconnected');
      const { body } = await disconnectedEvent(account);
      assert.equal(body['type'], 'LoggedOut');
      assert.match((body['instance'] as InstanceSeen).lastDisconnectReason, /^401: /);
      await account.pair(platform);
      await works(account);
    },
  ],

  [
    'another login for the second time is left the session',
    async () => {
      const account = await paired();
      await undergo(account, row('', { kind: 'conflict' }, /^440/), () => hit(account, { kind: 'conflict' }));
      await undergo(account, row('', { kind: 'conflict' }, /^440/, 'disconnected'), () => hit(account, { kind: 'conflict' }));
    },
  ],

  [
    'a platform that closes after every login is asked less and less often',
    async () => {
      const account = await paired();
      const times = 6;
      await hit(account, { kind: 'closeAfterLogin', times });
      const from = Date.now();
      await undergo(account, row('', { kind: 'closeAfterLogin' }, /^428/, 'connected', times + 1), () => restart(account));
      // Half of 100, 200, 400, 800, 800 and 800 ms at least.
      assert.ok(Date.now() - from >= 1_550, `${Date.now() - from} ms`);
    },
  ],

  [
    'late stanzas delay answers and break nothing',
    async () => {
      const account = await paired();
      await hit(account, { kind: 'delay', ms: 100 });
      const before = logins(account);
      await works(account);
      assert.equal((await account.seen()).status, 'connected');
      assert.equal(logins(account), before);
    },
  ],

  [
    'a text that is not acknowledged is answered with 504, and the next one goes through',
    async () => {
      const account = await paired();
      await hit(account, { kind: 'noAck' });
      const { status, body } = await account.send(contact, 'never acknowledged');
      assert.equal(status, 504);
      assert.equal(typeof body['error'], 'string');
      await works(account);
    },
  ],

  [
    'a text that the platform refuses is answered with its code and the key of the code',
    async () => {
      const account = await paired();
      await hit(account, { kind: 'ackError', code: 463 });
      const { status, body } = await account.send(contact, 'refused');
      assert.equal(status, 500);
      assert.equal(body['provider_code'], 463);
      assert.match(String(body['error']), /no time-lock/);
      assert.equal(body['error_key'], undefined);
      assert.equal(body['error_source'], 'whatsapp_server');
      assert.equal((await account.messages(contact)).find(({ text }) => text === 'refused')?.status, 'Failed');
      await works(account);
    },
  ],

  [
    'a message that comes twice is stored and told once',
    async () => {
      const account = await paired();
      await hit(account, { kind: 'duplicate' });
      const { id } = await platform.sandbox.send(contact, account.number, { kind: 'text', text: 'twice' });
      await works(account);
      assert.equal((await account.messages(contact)).filter(({ messageid }) => messageid === id).length, 1);
      await receiver.wait(({ body }) => (body['message'] as { messageid?: string } | undefined)?.messageid === id, 'the message is told');
      const told = receiver.posted.filter(({ body }) => (body['message'] as { messageid?: string } | undefined)?.messageid === id);
      assert.equal(new Set(told.map((one) => one.id)).size, 1);
    },
  ],
];

describe('fault', { concurrency: 6 }, () => {
  for (const one of live) {
    test(`fault: ${one.title} leads to ${one.end} with ${one.logins} logins`, async () => {
      const account = await paired();
      await undergo(account, one, () => hit(account, one.fault));
    });
  }
  for (const one of atLogin) {
    test(`fault: ${one.title} leads to ${one.end} with ${one.logins} logins`, async () => {
      const account = await paired();
      await hit(account, one.fault);
      await undergo(account, one, () => restart(account));
    });
  }
  for (const [title, tell] of stories) test(`fault: ${title}`, tell);
});

for (const one of opening) {
  test(`fault: ${one.title} leads to ${one.end} with ${one.logins} logins`, async () => {
    const account = await paired();
    await platform.sandbox.fault(one.fault);
    await undergo(account, one, () => restart(account));
  });
}

test('fault: a refused session stays disconnected until a user connects it', async () => {
  assert.ok(refused.length > 8);
  const before = refused.map(logins);
  for (const account of bystanders) await works(account);
  assert.deepEqual(refused.map(logins), before);
  for (const account of refused) {
    const { status, lastDisconnectReason } = await account.seen();
    assert.equal(status, 'disconnected');
    assert.match(String(((await disconnectedEvent(account)).body['instance'] as InstanceSeen).lastDisconnectReason), /^\d+: /);
    if (lastDisconnectReason.startsWith('401')) await account.pair(platform);
    else await account.connect();
    await account.reaches('connected');
    await works(account);
  }
});

test('fault: the other sessions were never affected, and no account had two connections', async () => {
  const { logins: all, unknown, messages } = platform.sandbox.stats();
  assert.deepEqual(bystanders.map(logins), [1, 1]);
  for (const account of bystanders) assert.equal((await account.seen()).lastDisconnectReason, '');
  assert.equal(all.double, 0);
  assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
  assert.deepEqual(unknown, {});
  await until(() => platform.sandbox.stats().connections.open === created, 'everybody has one connection');
  assert.doesNotMatch(gateway.printed, /unhandledRejection|notRestored|crashed/);
});
