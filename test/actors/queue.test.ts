/** The asynchronous queue: intake while the session is offline, order and time of sends, and dropped messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, type Message } from '#actors/model.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { SendQueue } from '#actors/session/queue.ts';
import { groupUnknown, lateAnswer, lostAnswer } from '#src/platform/wire/outcomes.ts';
import { message as sample } from '#test/contract/samples.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';
import { options, paired, refusalOf, Stage, staged, text } from './stage.ts';

const asynchronous = { ...options, async: true };
const send = (stage: Stage, body: string, more: Partial<typeof asynchronous> = {}, number = '551') =>
  stage.world.answerOf(stage.gateway.send('r1', text(number, body), { ...asynchronous, ...more }));
const texts = (stage: Stage): readonly string[] => stage.link().sent.map((message) => message.text);
const statuses = (stage: Stage): readonly string[] => [...stage.world.db.messages.values()].map(({ status }) => status);
const away = async (stage: Stage): Promise<void> => {
  stage.link().end(428);
  await stage.world.time.pass(10);
};
const back = async (stage: Stage): Promise<void> => {
  await stage.world.time.pass(2_000);
  stage.link().login();
  await stage.world.time.pass(100);
};

test('queue: while the session reconnects it accepts messages, says so, and sends them in order afterwards', async () => {
  const stage = await staged();
  await away(stage);
  for (const body of ['one', 'two', 'three']) {
    const queued = await send(stage, body);
    assert.ok(queued.ok && queued.value.status === 'Queued');
  }
  const view = await stage.gateway.queue('r1');
  assert.deepEqual([view.status, view.pending, view.acceptingNewMessages, view.sessionReady], ['waiting_connection', 3, true, false]);
  await back(stage);
  assert.deepEqual(texts(stage), ['one', 'two', 'three']);
  assert.deepEqual(statuses(stage), ['Sent', 'Sent', 'Sent']);
  stage.world.assertKept();
});

test('queue: it accepts nothing for a session that was disconnected by a command', async () => {
  const stage = await staged();
  await stage.world.answerOf(stage.gateway.disconnect('r1'));
  assert.equal(refusalOf(await send(stage, 'one')), 'notSent');
  assert.equal((await stage.gateway.queue('r1')).acceptingNewMessages, false);
});

test('queue: typing and read receipts precede a queued message as they precede any other', async () => {
  const stage = await staged();
  const unread: Message = { ...sample, chatId: '551@s.whatsapp.net', messageId: 'unread' };
  stage.world.db.putMessage({ ...unread, instanceId: 'r1', unread: true });
  await away(stage);
  await send(stage, 'later', { delay: 700, readChat: true });
  await back(stage);
  assert.deepEqual([stage.link().calls, texts(stage)], [['composing 551@s.whatsapp.net'], []]);
  await stage.world.time.pass(700);
  assert.deepEqual(stage.link().calls, ['composing 551@s.whatsapp.net', 'paused 551@s.whatsapp.net', 'read unread']);
  assert.deepEqual(texts(stage), ['later']);
});

test('queue: a reply is completed on the next connection, under the id that the caller got', async () => {
  const stage = await staged();
  stage.world.db.putMessage({ ...sample, messageId: 'asked', instanceId: 'r1', unread: false });
  await away(stage);
  const reply = await stage.world.answerOf(stage.gateway.send('r1', { ...text('551', 'yes'), replyTo: 'asked' }, asynchronous));
  assert.ok(reply.ok && reply.value.raw === null);
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.send('r1', { ...text(), replyTo: 'nobody' }, asynchronous))), 'invalid');
  await back(stage);
  const [sent] = stage.link().sent;
  assert.deepEqual([sent?.messageId, sent?.raw], [reply.value.messageId, new Uint8Array([2])]);
  const stored = stage.world.db.message('r1', reply.value.messageId);
  assert.deepEqual([stored?.status, stored?.raw, stored?.queuedSend], ['Sent', new Uint8Array([2]), null]);
});

test('queue: a message beyond its limit is refused with the limit', async () => {
  const stage = await staged(['r1'], { queue: { items: 2, age: 60_000 } });
  await away(stage);
  await send(stage, 'one');
  await send(stage, 'two');
  const third = await send(stage, 'three');
  assert.ok(!third.ok);
  assert.deepEqual([third.refusal.reason, third.refusal.message], ['limited', 'the asynchronous queue is full (2 messages)']);
  await back(stage);
  assert.ok((await send(stage, 'four')).ok, 'a message that left makes room');
});

test('queue: a message that waits too long becomes Failed, whether the session returns or not', async () => {
  const stage = await staged(['r1'], {
    queue: { items: 10, age: 5_000 },
    reconnect: { min: 60_000, max: 60_000, stable: 1, cutEvery: 30_000 },
  });
  await away(stage);
  await send(stage, 'one');
  await stage.world.time.pass(3_000);
  await send(stage, 'two');
  await stage.world.time.pass(3_000);
  assert.deepEqual(statuses(stage), ['Failed', 'Queued']);
  await stage.world.time.pass(3_000);
  assert.deepEqual(statuses(stage), ['Failed', 'Failed']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: a message whose connection ended during its send expires, although the session does not return', async () => {
  const stage = await staged(['r1'], { queue: { items: 10, age: 5_000 } });
  stage.link().answer = () => {
    stage.link().ended = true;
    return lostAnswer;
  };
  await send(stage, 'one');
  await stage.world.time.pass(50);
  assert.deepEqual([texts(stage), statuses(stage)], [['one'], ['Queued']]);
  stage.link().end(403);
  await stage.world.time.pass(6_000);
  assert.deepEqual(statuses(stage), ['Failed']);
});

test('queue: if the connection ends before the ack the message is sent again under its id, and silence on a live one fails it', async () => {
  const stage = await staged();
  const answers = [lostAnswer, done({ at: 1 }), lateAnswer];
  stage.link().answer = () => answers.shift() ?? done({ at: 1 });
  const first = await send(stage, 'one');
  await stage.world.time.pass(50);
  assert.deepEqual(statuses(stage), ['Queued']);
  await away(stage);
  await back(stage);
  assert.deepEqual(
    stage.link().sent.map(({ messageId }) => messageId),
    Array.from({ length: 2 }, () => (first.ok ? first.value.messageId : '')),
  );
  await send(stage, 'two');
  await stage.world.time.pass(50);
  assert.deepEqual(statuses(stage), ['Sent', 'Failed']);
});

test('queue: a message to a group about which the platform gave no answer is sent again on the same connection', async () => {
  const stage = await staged();
  stage.link().answer = () => groupUnknown;
  assert.ok((await send(stage, 'one')).ok);
  await stage.world.time.pass(1_000);
  assert.deepEqual([statuses(stage), stage.link().sent.length], [['Queued'], 1]);
  stage.link().answer = () => done({ at: 1 });
  await stage.world.time.pass(5_000);
  assert.deepEqual([statuses(stage), stage.link().sent.length], [['Sent'], 2]);
  stage.world.assertKept();
});

test('queue: messages to a group about which the platform never answers fail after five minutes, and the message behind them leaves', async () => {
  const stage = await staged();
  stage.link().answer = (message) => (message.text === 'behind' ? done({ at: 1 }) : groupUnknown);
  for (const body of ['one', 'two', 'behind']) assert.ok((await send(stage, body)).ok);
  await stage.world.time.pass(290_000);
  assert.deepEqual(statuses(stage), ['Queued', 'Queued', 'Queued']);
  await stage.world.time.pass(30_000);
  assert.deepEqual(statuses(stage), ['Failed', 'Failed', 'Sent']);
  const [first] = stage.world.db.messages.values();
  assert.equal(first?.error, 'the platform did not answer the questions about its recipient');
});

test('queue: the time of a reconnect or of an empty queue does not count for a group without an answer', async () => {
  const stage = await staged();
  stage.link().answer = () => groupUnknown;
  assert.ok((await send(stage, 'one')).ok);
  await stage.world.time.pass(10_000);
  await away(stage);
  await stage.world.time.pass(600_000);
  await back(stage);
  stage.link().answer = () => groupUnknown;
  await stage.world.time.pass(10_000);
  assert.deepEqual(statuses(stage), ['Queued']);
  await stage.world.time.pass(310_000);
  assert.deepEqual(statuses(stage), ['Failed']);
  await stage.world.time.pass(600_000);
  assert.ok((await send(stage, 'two')).ok);
  await stage.world.time.pass(10_000);
  assert.deepEqual(statuses(stage), ['Failed', 'Queued']);
});

test('queue: more messages than memory holds leave in order, each once, also over a restart', async () => {
  const stage = await staged(['r1'], {}, (world) => {
    for (let n = 0; n < 1_250; n += 1) {
      const messageId = `old-${String(n).padStart(4, '0')}`;
      const queuedSend = { send: null, delay: 0, readChat: false, readMessages: false };
      const left = {
        ...sample,
        messageId,
        text: messageId,
        fromMe: true,
        status: 'Queued',
        timestamp: world.time.now(),
        queuedSend,
      } as const;
      world.db.putMessage({ ...left, instanceId: 'r1', unread: false });
    }
  });
  await send(stage, 'new');
  await stage.world.time.pass(20_000);
  const sent = texts(stage);
  assert.equal(sent.length, 1_251);
  assert.deepEqual(
    sent,
    [...sent]
      .toSorted()
      .filter((one) => one !== 'new')
      .concat('new'),
  );
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: messages that are accepted while storage is read leave after all stored ones, each once', async () => {
  const reading = Promise.withResolvers<void>();
  const old = Array.from({ length: 500 }, (_, n) => `old-${String(n).padStart(3, '0')}`);
  const stage = await staged(['r1'], {}, ({ db, time }) => {
    const queuedSend = { send: null, delay: 0, readChat: false, readMessages: false };
    for (const body of old) {
      const left = { ...sample, messageId: body, text: body, fromMe: true, status: 'Queued', queuedSend } as const;
      db.putMessage({ ...left, timestamp: time.now(), instanceId: 'r1', unread: false });
    }
    db.holds.set('messages.queued', reading.promise);
  });
  await stage.world.time.pass(100);
  assert.equal((await send(stage, 'new-1')).ok, true);
  assert.equal((await send(stage, 'new-2')).ok, true);
  stage.world.db.holds.clear();
  reading.resolve();
  await stage.world.time.pass(20_000);
  assert.deepEqual(texts(stage), [...old, 'new-1', 'new-2']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

/** Starts a gateway with three messages of an earlier run, and accepts two messages before the gateway counts the stored queue. */
async function acceptedBeforeCount(isLive: boolean): Promise<Stage> {
  const world = new World();
  world.register({ ...paired, id: 'r1', lastActiveAt: world.time.now() });
  const queuedSend = { send: null, delay: 0, readChat: false, readMessages: false };
  for (const body of ['old-1', 'old-2', 'old-3']) {
    const left = { ...sample, messageId: body, text: body, fromMe: true, status: 'Queued', queuedSend } as const;
    world.db.putMessage({ ...left, timestamp: world.time.now(), instanceId: 'r1', unread: false });
  }
  const stage = new Stage(world, await world.start());
  if (isLive) stage.letIn();
  for (const body of ['new-1', 'new-2']) assert.equal((await send(stage, body)).ok, true);
  if (isLive) await world.time.pass(1_000);
  await stage.gateway.restore();
  return stage;
}

test('queue: messages that are accepted before the start counts the stored queue are counted once', async () => {
  const stage = await acceptedBeforeCount(false);
  assert.equal((await stage.gateway.queue('r1')).pending, 5);
  stage.link().login();
  await stage.world.time.pass(1_000);
  assert.deepEqual(texts(stage), ['old-1', 'old-2', 'old-3', 'new-1', 'new-2']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: messages that are accepted before the start counts the stored queue do not overtake it', async () => {
  const stage = await acceptedBeforeCount(true);
  await stage.world.time.pass(1_000);
  assert.deepEqual(texts(stage), ['old-1', 'old-2', 'old-3', 'new-1', 'new-2']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: clearing also cancels messages that wait in storage, but not the message that is being sent', async () => {
  const stage = await staged();
  const never = Promise.withResolvers<never>();
  stage.link().answer = () => never.promise;
  for (let n = 0; n < 450; n += 1) await send(stage, `m${n}`);
  assert.deepEqual(await stage.world.answerOf(stage.gateway.clearQueue('r1')), { ok: true, value: 449 });
  const all = statuses(stage);
  assert.deepEqual([all[0], all.filter((status) => status === 'Canceled').length], ['Queued', 449]);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: a single message can be cancelled wherever it waits, and the others leave in order, each once', async () => {
  const stage = await staged();
  await away(stage);
  const ids: string[] = [];
  for (let n = 0; n < 450; n += 1) {
    const queued = await send(stage, `m${n}`);
    assert.ok(queued.ok);
    ids.push(queued.value.messageId);
  }
  const cancelled = [0, 7, 199, 200, 320, 449];
  for (const at of cancelled) assert.ok((await stage.world.answerOf(stage.gateway.deleteMessage('r1', ids[at]!))).ok, String(at));
  assert.equal((await stage.gateway.queue('r1')).pending, 444);
  await back(stage);
  const left = ids.map((_, n) => n).filter((n) => !cancelled.includes(n));
  assert.deepEqual(
    texts(stage),
    left.map((n) => `m${n}`),
  );
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
  assert.deepEqual(
    statuses(stage).flatMap((status, n) => (status === 'Canceled' ? [n] : [])),
    cancelled,
  );
});

test('queue: a message that is being sent cannot be cancelled, and its deletion is refused until it has left', async () => {
  const stage = await staged();
  const acknowledged = Promise.withResolvers<ReturnType<typeof done<{ readonly at: number }>>>();
  stage.link().answer = () => acknowledged.promise;
  const queued = await send(stage, 'under way');
  assert.ok(queued.ok);
  await stage.world.time.pass(10);
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.deleteMessage('r1', queued.value.messageId))), 'conflict');
  acknowledged.resolve(done({ at: 1 }));
  await stage.world.time.pass(10);
  assert.deepEqual(statuses(stage), ['Sent']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
});

test('queue: a read that fails because storage is away is repeated', async () => {
  const stage = await staged();
  await away(stage);
  for (let n = 0; n < 250; n += 1) await send(stage, `m${n}`);
  stage.link().answer = (message) => {
    if (message.text === 'm199') stage.world.db.away = true;
    return done({ at: 1 });
  };
  await back(stage);
  await stage.world.time.pass(3_000);
  assert.equal(texts(stage).length, 200);
  stage.world.db.away = false;
  await stage.world.time.pass(5_000);
  assert.equal(texts(stage).length, 250);
  assert.equal(new Set(texts(stage)).size, 250);
});

test('sends: two spellings of one chat are the same chat, whose messages leave in order', async () => {
  const stage = await staged();
  const first = stage.gateway.send('r1', text('551', 'one'), { ...options, delay: 3_000 });
  const second = stage.gateway.send('r1', text('551@s.whatsapp.net', 'two'), options);
  await stage.world.time.pass(4_000);
  assert.ok((await first).ok && (await second).ok);
  assert.deepEqual(texts(stage), ['one', 'two']);
});

test('queue: ids of sent messages are forgotten when no message waits, and the first read does not wait for the recorder', async () => {
  const { ports, time } = new World();
  const [sent, reads]: [string[], boolean[]] = [[], []];
  let stored: readonly Message[] = [];
  const queue = new SendQueue({
    time,
    limits: testPolicy.queue,
    live: () => true,
    held: () => '',
    read: async (_limit, hasSent) => {
      reads.push(hasSent);
      return stored;
    },
    send: async ({ messageId }) => {
      sent.push(messageId);
      stored = [];
      return 'done';
    },
    pace: () => 0,
    giveUp: async () => undefined,
    supervise: (input) => supervisedWorkers(ports, testPolicy, {}).supervise(input),
  });
  // A queue that still knew the id of a sent message would drop the second message with this id.
  for (const messageId of ['m0', 'm1', 'm2', 'm1']) {
    queue.reserve();
    stored = [{ ...sample, messageId, timestamp: time.now() }];
    queue.push(stored[0]!);
    await settle();
  }
  assert.deepEqual([sent, queue.pending], [['m0', 'm1', 'm2', 'm1'], 0]);
  queue.restore(1);
  await settle();
  assert.deepEqual(reads, [false, true], 'the first read does not wait for the recorder');
});

test('queue: a stop during a read of storage leaves no timer behind', async () => {
  const { ports, time } = new World();
  const { promise, resolve } = Promise.withResolvers<readonly Message[]>();
  const { armed } = time;
  const queue = new SendQueue({
    time,
    limits: testPolicy.queue,
    live: () => false,
    held: () => '',
    read: () => promise,
    send: async () => 'later',
    pace: () => 0,
    giveUp: async () => undefined,
    supervise: (input) => supervisedWorkers(ports, testPolicy, {}).supervise(input),
  });
  queue.restore(1);
  queue.stop();
  resolve([{ ...sample, timestamp: time.now() }]);
  await settle();
  assert.equal(time.armed, armed);
});
