/** Tests the event stream over real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { EventType, StreamPast } from '#actors/gateway.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { instance } from '#test/contract/samples.ts';
import { createFakeGateway, sampleEvent } from '#test/fakes/gateway.ts';
import { FakeLog } from '#test/fakes/time.ts';
import { setUp, token, until } from './setup.ts';
import { openStream } from './stream-client.ts';

const { id } = instance.record;

const event = (number: number, more: object = {}) => ({ id: `event-${number}`, ...more });

test('stream: a message event has the message itself, with its chat beside its fields', async (t) => {
  const { address, gateway } = await setUp(t);
  const client = await openStream(t, await address(), 'events=messages');
  assert.equal(client.status, 200);
  assert.match(client.headers.get('content-type') ?? '', /^text\/event-stream/);
  assert.equal(client.headers.get('cache-control'), 'no-cache');
  gateway.emit({});
  await client.frame(1);
  const data = { id: 'm1', chatid: '5511999999999@s.whatsapp.net', type: 'text', chat: { id: 'r00112233445566' } };
  const lines = ['event: messages', `data: ${JSON.stringify({ type: 'messages', data })}`, 'id: event-1'];
  assert.ok(client.text().endsWith(`${lines.join('\n')}\n\n`), client.text());
});

test('stream: a client that left before its stream opened takes no place', async (t) => {
  const gateway = createFakeGateway();
  const closed: string[] = [];
  const meter = { answered: () => undefined, stream: (what: string) => void closed.push(what) };
  const hub = new Hub({ gateway, limits: { ...defaultStreamLimits, perToken: 1 }, log: new FakeLog(), meter });
  t.after(() => hub.close());
  for (let n = 0; n < 2; n += 1) {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.destroy();
    await once(response, 'close');
    hub.open(id, { types: new Set(['messages']), filters: [], kinds: new Set() }, '', response);
  }
  assert.equal(hub.objection(id), null);
  assert.deepEqual(closed, ['opened', 'closed', 'opened', 'closed']);
});

test('stream: other events have their own keys', async (t) => {
  const { address, gateway } = await setUp(t);
  const client = await openStream(t, await address(), 'events=connection');
  gateway.emit({ type: 'connection', message: null, messageType: '', payload: { instance: { status: 'connected' } } });
  const [frame] = await client.frame(1);
  assert.deepEqual(frame, {
    event: 'connection',
    data: { type: 'connection', data: { instance: { status: 'connected' } } },
    id: 'event-1',
  });
});

test('stream: the headers are sent before the first event', async (t) => {
  const { address } = await setUp(t);
  const client = await openStream(t, await address(), 'events=presence');
  assert.deepEqual([client.status, client.frames], [200, []]);
});

test('stream: event names can be separated by commas or repeated, and other events are not sent', async (t) => {
  const { address, gateway } = await setUp(t);
  const client = await openStream(t, await address(), 'events=chats,%20labels&events=call');
  const types: readonly EventType[] = ['chats', 'messages', 'labels', 'newsletter_messages', 'sender', 'call'];
  for (const type of types) gateway.emit({ type });
  const frames = await client.frame(3);
  assert.deepEqual(
    frames.map((frame) => frame.event),
    ['chats', 'labels', 'call'],
  );
});

const flags = { fromMe: false, isGroup: false, wasSentByApi: false };

const exclusions: readonly (readonly [exclude: string, expected: readonly string[]])[] = [
  ['wasSentByApi', ['plain', 'mine', 'group', 'poll', 'image', 'receipt']],
  ['wasNotSentByApi', ['api', 'receipt']],
  ['fromMeYes', ['plain', 'group', 'poll', 'image', 'receipt']],
  ['fromMeNo', ['api', 'mine', 'receipt']],
  ['isGroupYes&excludeMessages=poll', ['plain', 'api', 'mine', 'image', 'receipt']],
  ['isGroupNo', ['group', 'receipt']],
  ['poll,image', ['plain', 'api', 'mine', 'group', 'receipt']],
  ['PollCreationMessageV3', ['plain', 'api', 'mine', 'group', 'image', 'receipt']],
];

for (const [exclude, expected] of exclusions) {
  test(`stream: excludeMessages=${exclude} filters only matching messages`, async (t) => {
    const { address, gateway } = await setUp(t);
    const client = await openStream(t, await address(), `events=messages,messages_update&excludeMessages=${exclude}`);
    const payload = (message: object) => ({ message, chat: {} });
    gateway.emit({ id: 'plain', message: flags });
    gateway.emit({ id: 'api', message: { ...flags, fromMe: true, wasSentByApi: true } });
    gateway.emit({ id: 'mine', message: { ...flags, fromMe: true } });
    gateway.emit({ id: 'group', message: { ...flags, isGroup: true } });
    gateway.emit({ id: 'poll', messageType: 'poll', payload: payload({ type: 'poll', messageType: 'PollCreationMessageV3' }) });
    gateway.emit({ id: 'image', messageType: 'media', payload: payload({ type: 'media', mediaType: 'image' }) });
    gateway.emit({ id: 'receipt', type: 'messages_update', message: null });
    const frames = await client.frame(expected.length);
    assert.deepEqual(
      frames.map((frame) => frame.id),
      expected,
    );
  });
}

const refused: readonly (readonly [query: string, status: number, error: RegExp])[] = [
  ['', 401, /^Unauthorized$/],
  ['?events=messages', 401, /^Unauthorized$/],
  ['?token=wrong&events=messages', 401, /^Unauthorized$/],
  [`?token=${token}`, 400, /^events is required$/],
  [`?token=${token}&events=`, 400, /^events is required$/],
  [`?token=${token}&events=,%20,`, 400, /^events is required$/],
  [`?token=${token}&events=messages,nonsense`, 400, /nonsense is not$/],
  [`?token=${token}&events=newsletter_messages`, 400, /newsletter_messages is not$/],
  [`?token=${token}&events=sender`, 400, /sender is not$/],
];

for (const [query, status, error] of refused) {
  test(`stream: /sse${query.replace(token, '…')} is refused with ${status} and a JSON body`, async (t) => {
    const { app } = await setUp(t);
    const reply = await app.inject({ url: `/sse${query}` });
    assert.equal(reply.statusCode, status);
    assert.match(String(reply.headers['content-type']), /^application\/json/);
    assert.match(reply.json().error, error);
  });
}

test('stream: it resumes after the last event that the client received', async (t) => {
  const { address, gateway } = await setUp(t);
  const first = await openStream(t, await address(), 'events=messages');
  gateway.emit(event(1));
  await first.frame(1);
  first.leave();
  for (const number of [2, 3]) gateway.emit(event(number));
  gateway.emit(event(4, { type: 'presence' }));
  const second = await openStream(t, await address(), 'events=messages', { 'last-event-id': 'event-1' });
  gateway.emit(event(5));
  const frames = await second.frame(3);
  assert.deepEqual(
    frames.map((frame) => frame.id),
    ['event-2', 'event-3', 'event-5'],
  );
  assert.ok(!second.text().includes('gap'));
});

/** The grace period of a slow client. The client runs in this process, so it is slower on a busy machine. In milliseconds. */
const graceMs = 20_000;

test('stream: it replays all kept events, and does not disconnect the client for its backlog', async (t) => {
  const { address, gateway } = await setUp(t, { stream: { backlogEvents: 5, graceMs } });
  await openStream(t, await address(), 'events=messages');
  for (let number = 0; number <= 1000; number += 1) gateway.emit(event(number));
  const client = await openStream(t, await address(), 'events=messages', { 'last-event-id': 'event-1' });
  gateway.emit(event(1001));
  const frames = await client.frame(1000);
  assert.deepEqual([frames[0]?.id, frames.at(-1)?.id, frames.length], ['event-2', 'event-1001', 1000]);
});

test('stream: a burst of events does not disconnect a client that reads', async (t) => {
  const { address, gateway } = await setUp(t, { stream: { graceMs } });
  const client = await openStream(t, await address(), 'events=messages');
  for (let number = 1; number <= 3000; number += 1) gateway.emit(event(number));
  assert.equal((await client.frame(3000)).length, 3000);
});

test('stream: it reports a gap when the last event is no longer kept', async (t) => {
  const { address, gateway } = await setUp(t, { stream: { ringEvents: 2 } });
  await openStream(t, await address(), 'events=messages');
  for (const number of [1, 2, 3, 4]) gateway.emit(event(number));
  const client = await openStream(t, await address(), 'events=messages', { 'last-event-id': 'event-1' });
  gateway.emit(event(5));
  const frames = await client.frame(1);
  assert.deepEqual(
    frames.map((frame) => frame.id),
    ['event-5'],
  );
  assert.match(client.comments.join('\n'), /gap/);
});

test('stream: events for resuming clients are also limited by bytes, and the newest event is always kept', async (t) => {
  const payload = { message: { text: 'x'.repeat(400) } };
  const { address, gateway } = await setUp(t, { stream: { ringBytes: 1_200 } });
  await openStream(t, await address(), 'events=messages');
  for (let number = 1; number <= 5; number += 1) gateway.emit(event(number, { payload }));
  const missed = async (lastEventId: string, count: number) => {
    const client = await openStream(t, await address(), 'events=messages', { 'last-event-id': lastEventId });
    gateway.emit(event(9, { payload: { message: { text: 'x'.repeat(5_000) } } }));
    const frames = await client.frame(count);
    return [frames.map((frame) => frame.id), client.comments.some((comment) => comment.includes('gap'))];
  };
  assert.deepEqual(await missed('event-4', 2), [['event-5', 'event-9'], false]);
  assert.deepEqual(await missed('event-4', 1), [['event-9'], true], 'the last one alone is larger than all that may be kept');
  assert.deepEqual(await missed('event-9', 1), [['event-9'], false]);
});

const named = (...numbers: readonly number[]) => numbers.map((number) => ({ ...sampleEvent, ...event(number) }));

/** Past events of other nodes, the ids that a client gets if it resumes after event 2 during event 5, and true if it gets a gap. */
const pasts: readonly [string, StreamPast | null, readonly string[], boolean][] = [
  ['are unknown', null, ['event-5'], true],
  ['are complete', { anchor: 'event-1', events: named(2, 3, 4) }, ['event-3', 'event-4', 'event-5'], false],
  ['include the current event', { anchor: 'event-2', events: named(3, 4, 5) }, ['event-3', 'event-4', 'event-5'], false],
  ['are none after its last event', { anchor: 'event-2', events: [] }, ['event-5'], false],
  ['begin after a gap', { anchor: 'event-3', events: named(4) }, ['event-5'], true],
];

for (const [title, past, ids, isGap] of pasts) {
  test(`stream: a client resumes on a new node when the events of other nodes ${title}`, async (t) => {
    const { address, gateway } = await setUp(t);
    const read = Promise.withResolvers<StreamPast | null>();
    gateway.past = () => read.promise;
    const client = await openStream(t, await address(), 'events=messages', { 'last-event-id': 'event-2' });
    gateway.emit(event(5));
    read.resolve(past);
    assert.deepEqual(
      (await client.frame(ids.length)).map((frame) => frame.id),
      ids,
    );
    gateway.emit(event(6));
    assert.equal((await client.frame(ids.length + 1)).at(-1)?.id, 'event-6');
    assert.equal(client.comments.join('\n').includes('gap'), isGap);
  });
}

test('stream: it reports lost events as a gap, and does not resume across the gap', async (t) => {
  const { address, gateway } = await setUp(t);
  const stays = await openStream(t, await address(), 'events=messages');
  for (const number of [1, 2]) gateway.emit(event(number));
  gateway.lose(id);
  gateway.emit(event(4));
  await stays.frame(3);
  assert.match(stays.comments.join('\n'), /gap/);
  const back = await openStream(t, await address(), 'events=messages', { 'last-event-id': 'event-1' });
  gateway.emit(event(5));
  assert.equal((await back.frame(1))[0]?.id, 'event-5');
  assert.match(back.comments.join('\n'), /gap/);
});

test('stream: it sends keep-alive comments while there are no events', async (t) => {
  const { address } = await setUp(t, { stream: { heartbeatMs: 20 } });
  const client = await openStream(t, await address(), 'events=messages');
  await until(() => client.comments.filter((comment) => comment.includes('keep-alive')).length >= 2);
});

test('stream: it ends when the gateway ends it, and a new one can be opened', async (t) => {
  const { address, gateway } = await setUp(t);
  const client = await openStream(t, await address(), 'events=messages');
  gateway.endStreams(id);
  await client.ended;
  assert.equal(gateway.listeners(id), 0);
  const next = await openStream(t, await address(), 'events=messages');
  gateway.emit({});
  await next.frame(1);
});

test('stream: it ends at once if its instance is removed while it opens', async (t) => {
  const { address, gateway } = await setUp(t);
  gateway.subscribe = (_id, _onEvent, onEnd) => {
    onEnd();
    return () => undefined;
  };
  const client = await openStream(t, await address(), 'events=messages');
  await client.ended;
});

test('stream: all clients of an instance share a subscription, which ends some time after the last client leaves', async (t) => {
  const { address, gateway } = await setUp(t, { stream: { lingerMs: 20 } });
  const clients = await Promise.all([1, 2, 3].map(async () => openStream(t, await address(), 'events=messages')));
  assert.equal(gateway.listeners(id), 1);
  gateway.emit({});
  await Promise.all(clients.map((client) => client.frame(1)));
  for (const client of clients) client.leave();
  await until(() => gateway.listeners(id) === 0);
});

/** Opens a client that requests the stream and then reads nothing. */
const openDeaf = async (t: TestContext, address: string): Promise<Socket> => {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => undefined).pause();
  socket.write(`GET /sse?token=${token}&events=messages HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
};

/** Opens a client that keeps its connection after an answer. */
const openIdle = async (t: TestContext, address: string): Promise<void> => {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => undefined).write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
};

const large = { ...sampleEvent.payload, message: { text: 'x'.repeat(100_000) } };

test('stream: the server disconnects only the client that is too far behind', async (t) => {
  const { address, gateway, lines } = await setUp(t, { stream: { graceMs: 10 } });
  const base = await address();
  const reader = await openStream(t, base, 'events=messages');
  await openDeaf(t, base);
  const opened = () => lines.filter(({ event: name }) => name === 'stream.opened').length;
  await until(() => opened() === 2);
  let number = 0;
  const cut = () => lines.some(({ event: name }) => name === 'stream.closed');
  while (!cut() && number < 500) {
    number += 1;
    gateway.emit(event(number, { payload: large }));
    await reader.frame(number);
  }
  assert.ok(cut(), 'the deaf reader is still there');
  assert.equal(reader.frames.length, number);
});

test('stream: closing the app ends streams and idle connections at once, also those of a client that does not read', async (t) => {
  const { app, address, gateway } = await setUp(t, { stream: { endMs: 50 } });
  const base = await address();
  const client = await openStream(t, base, 'events=messages');
  await openIdle(t, base);
  await openDeaf(t, base);
  for (let number = 1; number <= 30; number += 1) {
    gateway.emit(event(number, { payload: large }));
    await client.frame(number);
  }
  const start = performance.now();
  await app.close();
  await client.ended;
  // Neither client disconnects, and the server keeps an idle connection for more than 20 seconds.
  assert.ok(performance.now() - start < 20_000, `closing took ${performance.now() - start} ms`);
  assert.equal(gateway.listeners(id), 0);
});

test('stream: a stream above the limit of its token is refused at once, until another stream ends', async (t) => {
  const { address } = await setUp(t, { stream: { perToken: 2 } });
  const first = await openStream(t, await address(), 'events=call');
  const second = await openStream(t, await address(), 'events=call');
  assert.deepEqual([first.status, second.status], [200, 200]);
  const url = `${await address()}/sse?token=${token}&events=call`;
  const refused = await fetch(url);
  assert.deepEqual([refused.status, await refused.json()], [429, { error: 'Maximum number of open streams per token reached (2)' }]);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  first.leave();
  const answers = async (): Promise<number> => {
    const controller = new AbortController();
    const { status } = await fetch(url, { signal: controller.signal });
    controller.abort();
    return status;
  };
  let status = 0;
  for (let tries = 0; status !== 200 && tries < 500; tries += 1) status = await answers();
  assert.equal(status, 200);
});
