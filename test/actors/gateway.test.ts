/** Tests the gateway as the HTTP interface uses it, over a simulated world. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunningGateway, Send, SendOptions } from '#actors/gateway.ts';
import type { Policy } from '#actors/policy/policy.ts';
import { identity, type FakeLink } from '#test/fakes/platform.ts';
import { lateAnswer, lostAnswer, notSent, refused } from '#src/platform/wire/outcomes.ts';
import { message as sampleMessage } from '#test/contract/samples.ts';
import { settle, World } from '#test/fakes/world.ts';

const paired = { wanted: 'online', jid: identity.jid, owner: identity.owner } as const;
const text = (number: string, body = 'hello'): Send => ({
  number,
  content: { kind: 'text', text: body, preview: null },
  replyTo: '',
  mentions: [],
  forward: false,
});
const options: SendOptions = {
  delay: 0,
  readChat: false,
  readMessages: false,
  trackSource: 'crm',
  trackId: '7',
  async: false,
  label: '/send/text',
  payload: { number: '1' },
};
const asynchronous = { ...options, async: true, payload: { async: true } };

interface Stage {
  readonly world: World;
  readonly gateway: RunningGateway;
  readonly link: FakeLink;
  /** The type and the message status of each event that was delivered or published. */
  readonly heard: string[];
}

async function live(policy: Partial<Policy> = {}, prepare: (world: World) => void = () => undefined): Promise<Stage> {
  const world = new World();
  world.register({ id: 'r1', ...paired });
  prepare(world);
  const gateway = await world.start(policy);
  const heard: string[] = [];
  gateway.subscribe(
    'r1',
    (event) => heard.push(event.type),
    () => heard.push('end'),
  );
  await gateway.restore();
  await settle();
  const link = world.platform.of('r1');
  link.login();
  await world.time.pass(100);
  return { world, gateway, link, heard };
}

const refusalOf = (result: { readonly ok: boolean; readonly refusal?: { readonly reason: string } }): string =>
  result.ok ? '' : (result.refusal?.reason ?? '');

test('gateway: an instance is created, connected and sends a message', async () => {
  const world = new World();
  const gateway = await world.start();
  const made = await gateway.create({ name: 'shop', adminField01: 'a', adminField02: '', systemName: '', browser: '', system: '' });
  assert.ok(made.ok);
  const { id, token } = made.value.record;
  assert.match(id, /^r[0-9a-f]{14}$/);
  assert.equal(gateway.authenticate(token), id);
  assert.equal(made.value.status, 'disconnected');
  assert.equal(refusalOf(await gateway.send(id, text('551'), options)), 'notSent');

  const connecting = gateway.connect(id, {});
  await settle();
  const link = world.platform.of(id);
  link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'QR' });
  const shown = await connecting;
  assert.ok(shown.ok);
  assert.deepEqual([shown.value.status, shown.value.qrcode], ['connecting', 'data:image/png;base64,QR']);
  const again = await gateway.connect(id, {});
  assert.ok(again.ok && again.value.qrcode === shown.value.qrcode, 'a second connect answers with the QR of the first');
  link.say({ type: 'platform.paired', identity });
  link.end(515);
  await settle();
  link.login();
  await settle();
  assert.equal(gateway.view(id)?.connected, true);
  assert.equal(gateway.view(id)?.loggedIn, true);

  const sent = await world.answerOf(gateway.send(id, text('551'), options));
  assert.ok(sent.ok);
  assert.deepEqual([sent.value.status, sent.value.trackId, sent.value.sendFunction], ['Sent', '7', '/send/text']);
  const statuses = world.journal.groups
    .flat()
    .flatMap((entry) => (entry.kind === 'queued' ? 'Queued' : entry.kind === 'status' ? entry.status : []));
  assert.deepEqual(statuses, ['Queued', 'Sent']);
  await world.time.pass(100);
  assert.equal(world.db.instances.get(id)?.wanted, 'online');
  world.assertKept();
});

for (const [title, answer] of [
  ['a refusal of the platform', refused(463, 'reach-out time-lock')],
  ['no answer in time', lateAnswer],
  ['a session that goes away after the frame left', lostAnswer],
  ['a session that had gone before', notSent],
] as const) {
  const { reason, message, code } = answer.refusal;
  test(`gateway: ${title} is answered as ${reason}, and the message is Failed`, async () => {
    const { world, gateway, link } = await live();
    link.answer = () => answer;
    const sent = await world.answerOf(gateway.send('r1', text('551'), options));
    assert.ok(!sent.ok);
    assert.deepEqual([sent.refusal.reason, sent.refusal.message, sent.refusal.code], [reason, message, code]);
    const [stored] = [...world.db.messages.values()];
    assert.deepEqual([stored?.status, stored?.error], ['Failed', message]);
    world.assertKept();
  });
}

test('gateway: an invalid number is refused before anything is stored', async () => {
  const { world, gateway, link } = await live();
  link.objection = () => 'the number is not valid';
  assert.equal(refusalOf(await world.answerOf(gateway.send('r1', text('x'), options))), 'invalid');
  assert.equal(world.db.messages.size, 0);
});

test('gateway: a text on a connection that has just ended is refused as notSent, and can be sent again', async () => {
  const { world, gateway, link } = await live();
  link.ended = true;
  assert.equal(refusalOf(await world.answerOf(gateway.send('r1', text('551'), options))), 'notSent');
  assert.equal(world.db.messages.size, 0);
  link.ended = false;
  assert.ok((await world.answerOf(gateway.send('r1', text('551'), options))).ok);
  world.assertKept();
});

test('gateway: texts to one number leave in the order of their requests, even if the first shows typing for long', async () => {
  const { world, gateway, link } = await live();
  const sends = [
    gateway.send('r1', text('551', 'one'), { ...options, delay: 3000 }),
    gateway.send('r1', text('551', 'two'), options),
    gateway.send('r1', text('552', 'other'), options),
  ];
  await world.time.pass(10_000);
  assert.ok((await Promise.all(sends)).every((sent) => sent.ok));
  assert.deepEqual(
    link.sent.map((message) => message.text),
    ['other', 'one', 'two'],
  );
  assert.deepEqual(link.calls, ['composing 551@s.whatsapp.net', 'paused 551@s.whatsapp.net']);
});

test('gateway: texts that wait for their turn are refused when the session goes away, and none is composed on a closed link', async () => {
  const { world, gateway, link } = await live();
  const sends = [gateway.send('r1', text('551', 'one'), { ...options, delay: 3000 }), gateway.send('r1', text('551', 'two'), options)];
  await world.time.pass(1000);
  link.end(428);
  await world.time.pass(100);
  assert.deepEqual((await Promise.all(sends.map((send) => world.answerOf(send)))).map(refusalOf), ['notSent', 'notSent']);
  world.assertKept();
});

test('gateway: placeholders are filled from the chat', async () => {
  const { world, gateway, link } = await live();
  await world.answerOf(gateway.send('r1', text('551', 'Hi {{name}}!'), options));
  assert.equal(link.sent.at(-1)?.text, 'Hi !');
});

test('gateway: the asynchronous queue answers at once, continues after a reconnect and can be cleared', async () => {
  const { world, gateway, link } = await live();
  const never = Promise.withResolvers<never>();
  link.answer = () => never.promise;
  for (const body of ['one', 'two', 'three']) {
    const queued = await world.answerOf(gateway.send('r1', text('551', body), asynchronous));
    assert.ok(queued.ok && queued.value.status === 'Queued');
  }
  const { pending, processingNow, sessionReady } = await gateway.queue('r1');
  assert.deepEqual({ pending, processingNow, sessionReady }, { pending: 2, processingNow: true, sessionReady: true });
  assert.deepEqual(await world.answerOf(gateway.clearQueue('r1')), { ok: true, value: 2 });
  const states = [...world.db.messages.values()].map((message) => message.status);
  assert.deepEqual(states, ['Queued', 'Canceled', 'Canceled']);
});

test('queue: a message on which the adapter throws becomes Failed and counts as a crash of the queue, and the next one leaves', async () => {
  const { world, gateway, link } = await live();
  link.broken.add('message.transmit');
  await world.answerOf(gateway.send('r1', text('551', 'one'), asynchronous));
  await world.time.pass(10);
  link.broken.clear();
  await world.answerOf(gateway.send('r1', text('551', 'two'), asynchronous));
  await world.time.pass(5_000);
  assert.deepEqual(
    [...world.db.messages.values()].map(({ status }) => status),
    ['Failed', 'Sent'],
  );
  assert.deepEqual(gateway.numbers().instances[0]?.workerCrashes, { queue: 1 });
});

test('gateway: a recorded message reaches webhook and stream, in an envelope with the current token', async () => {
  const { world, gateway, link, heard } = await live({}, (world) => {
    world.hook({ id: 'w1', instanceId: 'r1', events: ['messages'] });
    world.hook({ id: 'wg', instanceId: null, url: 'http://global.test/', events: ['messages'], addUrlEvents: true });
  });
  const rotated = await world.answerOf(gateway.rotateToken('r1'));
  assert.ok(rotated.ok);
  const events: string[] = [];
  gateway.subscribe(
    'r1',
    (event) => events.push(event.type),
    () => undefined,
  );
  link.host.record([{ kind: 'message', message: sampleMessage, chat: { chatId: sampleMessage.chatId }, unread: true }]);
  await world.time.pass(100);
  assert.deepEqual(events, ['messages']);
  assert.equal(heard.at(-1), 'end', 'streams of the old token end');
  assert.deepEqual(
    world.receiver.posts.map(({ url, body }) => [url, body['EventType'], body['token'], body['owner']]),
    [
      ['http://receiver.test/hook', 'messages', rotated.value.record.token, identity.owner],
      ['http://global.test/messages', 'messages', rotated.value.record.token, identity.owner],
    ],
  );
  // The row of the second post is removed after the pause that follows the removal of the first one.
  await world.time.pass(200);
  assert.equal(world.db.outbox.size, 0);
  link.host.record([{ kind: 'message', message: sampleMessage, chat: { chatId: sampleMessage.chatId }, unread: true }]);
  await world.time.pass(100);
  assert.equal(world.receiver.posts.length, 2, 'a message that is told twice is an event once');
});

test('gateway: deliveries of an earlier run are posted after the start', async () => {
  const { world } = await live({}, (world) => {
    world.hook({ id: 'w1', instanceId: 'r1', events: ['messages'] });
    world.db.outbox.set(1, { ...sampleRow, instanceId: 'r1' });
  });
  assert.equal(world.receiver.posts.length, 1);
  assert.equal(world.db.outbox.size, 0);
});

const sampleRow = {
  seq: 1,
  webhookId: 'w1',
  instanceId: 'r1',
  eventId: 'e1',
  type: 'messages',
  messageType: '',
  lane: 'a',
  body: '{}',
  size: 2,
  attempts: 0,
  at: 0,
  notBefore: 0,
} as const;

test('gateway: failures of local and global webhooks, and of other instances, are kept apart', async () => {
  const { world, gateway, link } = await live({}, (world) => {
    world.register({ id: 'r2', ...paired });
    world.hook({ id: 'w1', instanceId: 'r1', events: ['messages'] });
    world.hook({ id: 'wg', instanceId: null, url: 'http://global.test/', events: ['messages'] });
  });
  world.receiver.answer = () => ({ ok: false, status: 502, error: 'webhook returned non-success status: 502 Bad Gateway' });
  link.host.record([{ kind: 'message', message: sampleMessage, chat: { chatId: sampleMessage.chatId }, unread: true }]);
  await world.time.pass(8000);
  const [local] = (await gateway.webhookErrors('r1')).errors;
  assert.deepEqual([local?.type, local?.statusCode, local?.attempts, local?.url], ['local', 502, 3, 'http://receiver.test/hook']);
  assert.deepEqual(
    (await gateway.globalWebhookErrors()).errors.map(({ type }) => type),
    ['global'],
  );
  assert.deepEqual((await gateway.webhookErrors('r2')).errors, []);
});

test('gateway: webhooks are saved, refused and removed, and two simple-mode calls at once create one', async () => {
  const { world, gateway } = await live();
  const input = { action: '', id: '', url: 'http://a.test', events: ['All'], enabled: true } as const;
  await Promise.all([gateway.saveWebhook('r1', input), gateway.saveWebhook('r1', input)]);
  const [webhook] = gateway.webhooks('r1');
  assert.equal(gateway.webhooks('r1').length, 1);
  assert.equal(refusalOf(await gateway.saveWebhook('r1', { ...input, url: 'ftp://a.test' })), 'invalid');
  assert.ok((await gateway.saveWebhook('r1', { action: 'delete', id: webhook?.id ?? '', url: '' })).ok);
  assert.deepEqual([gateway.webhooks('r1').length, world.db.webhooks.size], [0, 0]);
  assert.equal(gateway.globalWebhook(), null);
  const global = await gateway.saveGlobalWebhook(input);
  assert.ok(global.ok && global.value.webhooks[0]?.enabled);
  assert.equal(gateway.globalWebhook()?.url, 'http://a.test');
  assert.deepEqual(gateway.webhooks('r1'), [], 'the global webhook is none of the instance');
});

test('gateway: tokens that are rotated at the same time leave one that works, which is the stored one', async () => {
  const { world, gateway } = await live();
  await Promise.all([gateway.rotateToken('r1'), gateway.rotateToken('r1'), gateway.rotateToken('r1')]);
  const token = gateway.view('r1')?.record.token ?? '';
  assert.equal(gateway.authenticate(token), 'r1');
  assert.equal(gateway.authenticate('token-r1'), null);
  assert.equal(world.db.instances.get('r1')?.token, token);
});

test('gateway: a removed instance is logged out, closed, forgotten and deleted from storage', async () => {
  const { world, gateway, link, heard } = await live();
  assert.ok((await world.answerOf(gateway.remove('r1'))).ok);
  assert.deepEqual([link.state, link.logouts, link.discarded.length], ['closed', 1, 1]);
  assert.equal(gateway.view('r1'), null);
  assert.equal(gateway.authenticate('token-r1'), null);
  assert.equal(world.db.instances.size, 0);
  assert.equal(heard.at(-1), 'end');
  assert.equal(refusalOf(await gateway.remove('r1')), 'notFound');
  await gateway.stop();
  assert.deepEqual(world.time.rings, []);
});

test('gateway: at the cap a connect is refused for now, and sessions that are being restored count', async () => {
  const world = new World();
  for (const id of ['r1', 'r2', 'r3']) world.register({ id, ...paired, wanted: id === 'r3' ? 'offline' : 'online' });
  const gateway = await world.start({ maxConnected: 2 });
  const refused = await gateway.connect('r3', {});
  assert.ok(!refused.ok);
  assert.deepEqual([refused.refusal.reason, refused.refusal.retryAfter], ['capped', 60]);
  await world.answerOf(gateway.disconnect('r1'));
  await Promise.all([world.answerOf(gateway.connect('r3', {})), world.answerOf(gateway.connect('r1', {}))]);
  const connecting = gateway.all().filter((view) => view.status === 'connecting').length;
  assert.ok(connecting <= 2, `${connecting} connect`);
});

test('gateway: restore starts the wanted sessions, most recently active first, and shows its progress', async () => {
  const world = new World();
  const active = [3, 1, 4, 2];
  for (const [n, lastActiveAt] of active.entries()) world.register({ id: `r${n}`, ...paired, lastActiveAt });
  world.register({ id: 'asleep', ...paired, wanted: 'asleep' });
  world.register({ id: 'unpaired', wanted: 'online' });
  const gateway = await world.start({ handshakes: { atOnce: 1, perSecond: 100 } });
  assert.deepEqual(gateway.ready(), { restored: 0, total: 4 });
  const order: string[] = [];
  world.platform.onOpen = (link) => {
    order.push(link.host.id);
    queueMicrotask(() => link.login());
  };
  await gateway.restore();
  await world.time.pass(2000);
  assert.deepEqual(order, ['r2', 'r0', 'r3', 'r1']);
  assert.deepEqual(gateway.ready(), { restored: 4, total: 4 });
  assert.equal(gateway.view('asleep')?.status, 'hibernated');
  assert.equal(gateway.view('unpaired')?.status, 'disconnected');
});

test('gateway: stop closes every session, stores all reported entries and accepts no more', async () => {
  const { world, gateway, link, heard } = await live();
  link.host.record([{ kind: 'message', message: sampleMessage, chat: { chatId: sampleMessage.chatId }, unread: true }]);
  await world.answerOf(gateway.stop());
  assert.equal(link.state, 'closed');
  assert.equal(world.db.messages.size, 1);
  assert.equal(gateway.accepting, false);
  assert.equal(heard.at(-1), 'end');
  assert.equal(world.db.instances.get('r1')?.wanted, 'online', 'it comes back at the next start');
  assert.equal(world.time.armed, 0);
  world.assertKept();
});

test('gateway: deliveries of an earlier run continue although storage is away while the sessions are restored', async () => {
  const world = new World();
  world.register({ ...paired, id: 'r1' });
  world.hook({ id: 'w1', instanceId: 'r1', events: ['messages'] });
  world.db.outbox.set(1, { ...sampleRow, instanceId: 'r1' });
  const old = { ...sampleMessage, instanceId: 'r1', unread: false, status: 'Queued', timestamp: world.time.now() - 2_000 } as const;
  world.db.putMessage({ ...old, messageId: 'a', queuedSend: { send: null, delay: 0, readChat: false, readMessages: false } });
  world.db.putMessage({ ...old, messageId: 'b' });
  const gateway = await world.start();
  world.platform.onOpen = (link) => queueMicrotask(() => link.state === 'open' && link.login());
  world.db.away = true;
  const restored = gateway.restore();
  restored.catch(() => undefined); // The result is read later.
  await world.time.pass(5_000);
  world.db.away = false;
  await world.time.pass(5_000);
  await restored;
  assert.equal(world.db.message('r1', 'a')?.status, 'Sent');
  assert.equal(world.db.message('r1', 'b')?.status, 'Failed');
  assert.equal(world.db.outbox.has(1), false);
  await gateway.stop();
});

test('gateway: at the next start, texts of the queue are sent, and texts whose caller is gone become Failed', async () => {
  const { world } = await live({}, (world) => {
    const old = { ...sampleMessage, instanceId: 'r1', unread: false, status: 'Queued', timestamp: 1 } as const;
    world.db.putMessage({ ...old, messageId: 'a', queuedSend: { send: null, delay: 0, readChat: false, readMessages: false } });
    world.db.putMessage({ ...old, messageId: 'b' });
  });
  assert.equal(world.db.message('r1', 'a')?.status, 'Sent');
  assert.equal(world.db.message('r1', 'b')?.status, 'Failed');
});
