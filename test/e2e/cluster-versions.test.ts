/** Tests two versions of the program in one cluster, as during an upgrade. The test plays the node of the other version. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decode, encode, wireVersion } from '#actors/cluster/wire.ts';
import { NatsBus } from '#src/bus/nats.ts';
import { Signing } from '#src/bus/signing.ts';
import type { Account } from '#test/support/account.ts';
import { quietLog } from '#test/support/database.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

/** The key of the nodes, see `Nodes`. */
const signing = new Signing({ keys: [Buffer.alloc(32, 0xab)], now: Date.now, takesUnsigned: () => false });

let nats: NatsServer;
let nodes: Nodes;
let bus: NatsBus;
let account: Account;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  bus = new NatsBus({ url: nats.url, name: 'other version', log: quietLog, signing });
  account = await nodes.scene.paired();
});
after(async () => {
  await bus?.close();
  await nodes?.close();
  await nats?.stop();
});

const subjectOf = async (one: Account): Promise<string> => `dormouse.instance.${(await one.seen()).id}`;

/** Returns the answer of the node to a body on the bus; '' if it cannot be read. */
const asked = async (subject: string, body: Uint8Array): Promise<unknown> => {
  const answer = await until(async () => {
    const found = await bus.request(subject, body, 10_000);
    return found.kind === 'answered' && found;
  }, 'the node answers');
  return decode(answer.body);
};

const notKnown = { kind: 'otherVersion' };

/** Takes over an instance and gives every command the same answer. Returns a function that ends this. */
const answering = async (one: Account, answer: unknown): Promise<() => void> => {
  const end = bus.subscribe(await subjectOf(one), async () => encode(answer));
  // A request and its answer follow the subscription, so the server has the subscription before the first command.
  await bus.request('dormouse.nowhere', Buffer.from(''), 10_000);
  return end;
};

test('versions: an unknown command of a newer node is refused before it begins', withNats, async () => {
  const subject = await subjectOf(account);
  const { id } = await account.seen();
  const text = 'of a version that does not know it';
  const send = { number: contact, content: { kind: 'text', text, preview: null }, mentions: [], forward: false, replyTo: '' };
  const options = { trackSource: '', trackId: '', label: '', payload: null, delay: 0, readChat: false, readMessages: false, async: false };
  const bodies: readonly (readonly [title: string, body: Uint8Array])[] = [
    ['a method that is new', encode({ method: 'paintGroup', args: [id], version: 1 })],
    ['a method that every object has', encode({ method: 'toString', args: [id], version: 1 })],
    ['a method that no other node may call', encode({ method: 'stop', args: [], version: 1 })],
    ['a field that needs a later version', encode({ method: 'send', args: [id, send, options], version: wireVersion + 1 })],
    ['a value in a form of a later version', Buffer.from(`{"method":"send","args":["${id}",{"$as":"hologram","value":1}],"version":1}`)],
    ['no command at all', encode({ method: 7 })],
    ['no JSON', Buffer.from('\u0000')],
  ];
  for (const [title, body] of bodies) assert.deepEqual(await asked(subject, body), notKnown, title);
  const known = (await asked(
    subject,
    encode({ method: 'send', args: [id, { ...send, content: { ...send.content, text: 'known' } }, options] }),
  )) as {
    readonly kind: string;
  };
  assert.equal(known.kind, 'done', 'a command without a version is one of the first');
  await nodes.scene.works(account);
  assert.equal(nodes.scene.readBy(contact).has(text), false);
  await nodes.first.prints(/node\.otherVersion/);
  assert.doesNotMatch(nodes.first.printed, /unhandledRejection|rashed|urprised|commandFailed/);
});

test('versions: an unknown operation is refused, and the session stays', withNats, async () => {
  const { id } = await account.seen();
  const reply = await asked(
    await subjectOf(account),
    encode({ method: 'perform', args: [id, 'group.paint', { colour: 'red' }], version: 1 }),
  );
  assert.deepEqual(reply, {
    kind: 'done',
    value: { ok: false, refusal: { reason: 'notSupported', message: 'this version of the gateway does not know the operation' } },
  });
  await nodes.scene.works(account);
});

test('versions: a request of a newer node drains no node', withNats, async () => {
  assert.deepEqual(await asked('dormouse.node.first', encode({ ask: 'colour' })), { answer: null });
  assert.deepEqual(await asked('dormouse.node.first', Buffer.from('no JSON')), { answer: null });
  assert.equal((await nodes.first.call('GET', '/health/ready')).status, 200);
  assert.deepEqual(await nodes.owners([account]), ['first']);
});

test(
  'versions: a request for an instance whose node runs an older version is 503 in words, and a list comes from the database',
  withNats,
  async () => {
    const made = await nodes.scene.create();
    const end = await answering(made, notKnown);
    const refused = await until(async () => {
      const answer = await made.call('POST', '/instance/updateInstanceName', { name: 'newer' });
      return answer.status === 503 && answer;
    }, 'the older node is asked');
    assert.match(String(refused.body['error']), /runs another version/);
    assert.equal(refused.headers.get('retry-after'), '30');
    assert.equal((await made.call('POST', '/chat/find', { limit: 1 })).status, 200);
    end();
  },
);

test('versions: an unreadable answer of a newer node is reported as an unknown outcome', withNats, async () => {
  const made = await nodes.scene.create();
  const end = await answering(made, { kind: 'painted', colour: 'red' });
  const late = await until(async () => {
    const answer = await made.call('POST', '/instance/updateInstanceName', { name: 'newer' });
    return answer.status === 504 && answer;
  }, 'the newer node is asked');
  assert.match(String(late.body['error']), /the outcome is unknown/);
  end();
});

test('bus: a client of NATS without the key executes nothing, and reads no token', withNats, async () => {
  const stranger = new NatsBus({ url: nats.url, name: 'stranger', log: quietLog, signing: null });
  const subject = await subjectOf(account);
  const { id } = await account.seen();
  const wrongKey = new Signing({ keys: [Buffer.alloc(32, 1)], now: Date.now, takesUnsigned: () => true });
  const forger = new NatsBus({ url: nats.url, name: 'forger', log: quietLog, signing: wrongKey });
  for (const one of [stranger, forger])
    for (const method of ['rotateToken', 'remove', 'disconnect']) {
      const answer = await until(async () => {
        const found = await one.request(subject, encode({ method, args: [id], version: 1 }), 1_000);
        return found.kind !== 'away' && found;
      }, 'the stranger is connected');
      assert.deepEqual(answer, { kind: 'late' }, method);
    }
  assert.equal((await account.call('GET', '/instance/status')).status, 200, 'the token is what it was');
  await Promise.all([stranger.close(), forger.close()]);
});

test('bus: while a node of the last release lives, its unsigned commands are accepted', withNats, async () => {
  const former = new NatsBus({ url: nats.url, name: 'former', log: quietLog, signing: null });
  const ask = async () =>
    (await former.request(await subjectOf(account), encode({ method: 'toString', args: [], version: 1 }), 1_000)).kind;
  await until(async () => (await ask()) === 'late', 'an unsigned command is refused');
  const join = `insert into node (name, incarnation, until, capacity, load, draining, version, started)
    values ('former', '00000000-0000-4000-8000-000000000009', 9e12, 0, 0, true, '0', 0)`;
  await nodes.admin.rows({ name: '', text: join }, []);
  await until(async () => (await ask()) === 'answered', 'an unsigned command is answered');
  await nodes.admin.rows({ name: '', text: `delete from node where name = 'former'` }, []);
  await until(async () => (await ask()) === 'late', 'an unsigned command is refused again');
  await former.close();
});
