/** Tests pairing over HTTP: QR codes, pairing codes, and later connect calls with other options. The simulated phone is the oracle. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.strict();
});
after(() => scene.close());

interface Offer {
  readonly status: number;
  readonly qrcode: string;
  readonly paircode: string;
  readonly error: string;
}

const connect = async (account: Account, phone?: string): Promise<Offer> => {
  const { status, body } = await account.call('POST', '/instance/connect', phone === undefined ? {} : { phone });
  const { qrcode = '', paircode = '' } = (body['instance'] ?? {}) as { qrcode?: string; paircode?: string };
  return { status, qrcode, paircode, error: String(body['error'] ?? '') };
};

test('pairing: a pairing code replaces a QR code on the same connection, and links the phone for which it was made', async () => {
  const account = await scene.create();
  const first = await connect(account);
  assert.deepEqual([first.status, first.qrcode !== '', first.paircode], [200, true, '']);
  const { total } = scene.platform.sandbox.stats().connections;
  const second = await connect(account, account.number);
  assert.deepEqual([second.status, second.qrcode], [200, '']);
  assert.match(second.paircode, /^[0-9A-Z]{8}$/);
  assert.deepEqual(await connect(account, account.number), second, 'the same call joins');
  assert.equal(scene.platform.sandbox.stats().connections.total, total);
  await scene.platform.sandbox.enterCode({ number: account.number, code: second.paircode });
  await account.reaches('connected');
  await scene.works(account);
});

test('pairing: a request for another number gets a new code, and the first code is void', async () => {
  const account = await scene.create();
  const other = '5511977770001';
  const first = await connect(account, other);
  const second = await connect(account, account.number);
  assert.notEqual(first.paircode, second.paircode);
  await assert.rejects(scene.platform.sandbox.enterCode({ number: other, code: first.paircode }));
  await scene.platform.sandbox.enterCode({ number: account.number, code: second.paircode });
  const { owner } = await account.reaches('connected');
  assert.equal(owner, account.number);
});

test('pairing: a QR code replaces a pairing code and can be scanned, without a second connection', async () => {
  const account = await scene.create();
  const { paircode } = await connect(account, account.number);
  assert.notEqual(paircode, '');
  const { qrcode, paircode: none } = await connect(account);
  assert.equal(none, '');
  await scene.platform.scan({ qrcode, number: account.number, name: 'Ana' });
  await account.reaches('connected');
  assert.equal(scene.platform.sandbox.stats().logins.double, 0);
});

test('pairing: of two simultaneous calls the later one wins, and the earlier one is told so', async () => {
  const account = await scene.create();
  const offers = await Promise.all([connect(account, '5511977770002'), connect(account, account.number)]);
  const won = offers.filter(({ status }) => status === 200);
  assert.deepEqual(offers.map(({ status }) => status).toSorted(), [200, 409]);
  const seen = await until(
    async () => (await account.seen()).status === 'connecting' && account.call('GET', '/instance/status'),
    'it pairs',
  );
  assert.equal((seen.body['instance'] as { paircode: string }).paircode, won[0]?.paircode);
});

test('pairing: the gateway refuses an impossible number at once, and the platform refuses a number without an account', async () => {
  const account = await scene.create();
  assert.equal((await connect(account, '123')).status, 400);
  const refused = await connect(account, '9991234567890');
  assert.equal(refused.status, 400);
  assert.match(refused.error, /no pairing code for this number/);
  assert.notEqual((await connect(account, account.number)).paircode, '');
});

test('pairing: a device with a custom name is linked by code', async () => {
  const account = await scene.create();
  const { body } = await account.call('POST', '/instance/connect', { phone: account.number, systemName: 'Minha Empresa', browser: 'edge' });
  const { paircode } = body['instance'] as { paircode: string };
  await scene.platform.sandbox.enterCode({ number: account.number, code: paircode });
  await account.reaches('connected');
});

test('pairing: after a scan that asks for another QR code, the next code in the status links the session', async () => {
  const account = await scene.create();
  const { number } = account;
  const { qrcode } = await connect(account);
  await scene.platform.sandbox.fault({ kind: 'registrationRefresh', number });
  await assert.rejects(scene.platform.scan({ qrcode, number }), /another QR code/);
  const shown = async (): Promise<string> => {
    const { body } = await account.call('GET', '/instance/status');
    return (body['instance'] as { qrcode: string }).qrcode;
  };
  const next = await until(async () => {
    const now = await shown();
    return now !== '' && now !== qrcode && now;
  }, 'another QR code is shown');
  await scene.platform.scan({ qrcode: next, number });
  await account.reaches('connected');
});

test('pairing: a device that the platform refuses is named in the answer, in the status and in the events', async () => {
  const account = await scene.create();
  await scene.platform.sandbox.fault({ kind: 'refuseQuery', query: 'md/set/link_code', code: 400 });
  const { status, error } = await connect(account, account.number);
  assert.equal(status, 400);
  assert.match(error, /"Chrome \(Windows\)"/);
  assert.doesNotMatch(error, /number/);
  const { body } = await account.call('GET', '/instance/status');
  assert.equal((body['instance'] as { lastDisconnectReason: string }).lastDisconnectReason, error);
  await until(() => scene.receiver.posted.some((post) => JSON.stringify(post.body).includes('Chrome (Windows)')), 'an event says it');
});

test('pairing: browser and system are kept for the next pairing, and an invalid value is refused', async () => {
  const account = await scene.create();
  for (const look of [{ browser: 'Desktop' }, { system: 'Dormouse' }])
    assert.equal((await account.call('POST', '/instance/connect', look)).status, 400);
  const { body } = await account.call('POST', '/instance/connect', { phone: account.number, browser: 'safari', system: 'Mac OS' });
  const { browser, system } = body['instance'] as { browser: string; system: string };
  assert.deepEqual([browser, system], ['safari', 'Mac OS']);
  await account.call('POST', '/instance/disconnect');
  await scene.platform.sandbox.fault({ kind: 'refuseQuery', query: 'md/set/link_code', code: 400 });
  assert.match((await connect(account, account.number)).error, /"Safari \(Mac OS\)"/);
});
