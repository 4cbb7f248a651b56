/** Tests the bus on a real NATS server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { NatsBus } from '#src/bus/nats.ts';
import { Assembly, inPieces, mostBytes, pieceBytes } from '#src/bus/pieces.ts';
import { quietLog } from '#test/support/database.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { until } from '#test/support/until.ts';

const server = withNats.skip === undefined ? await NatsServer.open() : null;
const plain = withNats.skip === undefined ? await NatsServer.open({ jetStream: false }) : null;
const opened: NatsBus[] = [];
after(async () => {
  for (const bus of opened) await bus.close();
  await server?.stop();
  await plain?.stop();
});

const text = (body: Uint8Array): string => Buffer.from(body).toString();

/** Returns a connected bus. */
const bus = async (name: string): Promise<NatsBus> => {
  const made = new NatsBus({ url: server?.url ?? '', name, log: quietLog, signing: null });
  opened.push(made);
  await until(async () => (await made.request('nowhere', Buffer.from(''), 1_000)).kind === 'nobody', `${name} is connected`);
  return made;
};

test('bus: a request reaches its subscriber, and the answer returns', withNats, async () => {
  const [a, b] = [await bus('a'), await bus('b')];
  const end = b.subscribe('greet', async (body) => Buffer.from(`hello ${text(body)}`));
  await until(async () => (await a.request('greet', Buffer.from('x'), 1_000)).kind === 'answered', 'b subscribes');
  const answers = await Promise.all(['one', 'two'].map((name) => a.request('greet', Buffer.from(name), 60_000)));
  assert.deepEqual(
    answers.map((answer) => answer.kind === 'answered' && text(answer.body)),
    ['hello one', 'hello two'],
  );
  end();
  await until(async () => (await a.request('greet', Buffer.from('x'), 1_000)).kind === 'nobody', 'b subscribes no more');
});

test('bus: an answer that does not count is skipped, and another subscriber is waited for', withNats, async () => {
  const [a, b, c] = [await bus('q'), await bus('r'), await bus('s')];
  const large = 'x'.repeat(pieceBytes + 1);
  b.subscribe('both', async () => Buffer.from(`former ${large}`));
  c.subscribe('both', async () => Buffer.from(`owner ${large}`));
  const asked = new Set<string>();
  await until(async () => {
    const answer = await a.request('both', Buffer.from('x'), 1_000, async (body) => {
      asked.add(text(body.subarray(0, 5)));
      return text(body.subarray(0, 5)) === 'owner';
    });
    return asked.size === 2 && answer.kind === 'answered' && text(answer.body) === `owner ${large}`;
  }, 'both have answered');
});

test('bus: a request on its way when the subscription ends is answered or reports that there is no subscriber', withNats, async () => {
  const [a, b] = [await bus('o'), await bus('p')];
  const body = randomBytes(pieceBytes);
  for (let round = 0; round < 5; round += 1) {
    const subject = `ending.${round}`;
    const end = b.subscribe(subject, async (asked) => asked);
    await until(async () => (await a.request(subject, Buffer.from('x'), 1_000)).kind === 'answered', 'p subscribes');
    const requests = Array.from({ length: 50 }, () => a.request(subject, body, 60_000));
    // Some of them have left the server by then, and were not read yet.
    await Promise.race(requests);
    end();
    const kinds = (await Promise.all(requests)).map(({ kind }) => kind);
    assert.deepEqual(
      kinds.filter((kind) => kind !== 'answered' && kind !== 'nobody'),
      [],
    );
  }
});

test('bus: a listener that throws, an answer that fails and a request without a reply address break nothing', withNats, async () => {
  const [a, b] = [await bus('m'), await bus('n')];
  b.listen('broken', () => assert.fail('a message that makes no sense'));
  b.subscribe('failing', () => Promise.reject(new Error('no answer')));
  b.subscribe('sound', async (body) => body);
  await until(async () => (await a.request('sound', Buffer.from('x'), 1_000)).kind === 'answered', 'n subscribes');
  for (const subject of ['broken', 'failing', 'sound']) a.publish(subject, Buffer.from('?'));
  assert.equal((await a.request('failing', Buffer.from('x'), 100)).kind, 'late');
  assert.equal((await a.request('sound', Buffer.from('x'), 60_000)).kind, 'answered');
});

test('bus: bodies of many pieces arrive complete, several at once', withNats, async () => {
  const [a, b] = [await bus('c'), await bus('d')];
  b.subscribe('echo', async (body) => body);
  await until(async () => (await a.request('echo', Buffer.from('x'), 1_000)).kind === 'answered', 'd subscribes');
  const bodies = [randomBytes(pieceBytes), randomBytes(3 * pieceBytes + 1), randomBytes(2 * pieceBytes)];
  const answers = await Promise.all(bodies.map((body) => a.request('echo', body, 60_000)));
  for (const [at, answer] of answers.entries()) assert.ok(answer.kind === 'answered' && bodies[at]!.equals(answer.body), `body ${at}`);
  assert.deepEqual(await a.request('echo', Buffer.alloc(mostBytes + 1), 1_000), { kind: 'away' });
});

test('bus: published messages reach all listeners in order, and large bodies arrive complete', withNats, async () => {
  const nodes = [await bus('j'), await bus('k')];
  const got: string[][] = [[], []];
  for (const [at, node] of nodes.entries()) node.listen('news', (body) => void got[at]!.push(`${body.length}${text(body.subarray(0, 1))}`));
  const first = await bus('l');
  await until(() => {
    first.publish('news', Buffer.from('?'));
    return got.every((list) => list.length > 0);
  }, 'both listen');
  const bodies = ['a', 'b'.repeat(pieceBytes + 1), 'c', 'd'.repeat(pieceBytes)];
  for (const body of bodies) first.publish('news', Buffer.from(body));
  for (const list of got) {
    await until(() => list.at(-1)?.endsWith('d'), 'the last one is there');
    assert.deepEqual(
      list.filter((one) => !one.endsWith('?')),
      bodies.map((body) => `${body.length}${body[0]}`),
    );
  }
});

const keep = { subjects: 'kept.*', ms: 60_000, bytes: 4_194_304, each: 3, replicas: 1 };

/** Returns a bus that keeps published messages of a subject, with the given limits. */
const keeping = async (change: Partial<typeof keep> = {}): Promise<NatsBus> => {
  const made = new NatsBus({ url: server?.url ?? '', name: 'keeping', log: quietLog, signing: null, keep: { ...keep, ...change } });
  opened.push(made);
  await until(() => made.keeps, 'the server keeps what is published');
  return made;
};

/** Returns the messages under the subject as soon as there are `count` of them. */
const found = async (one: NatsBus, subject: string, count: number): Promise<readonly string[]> => {
  let texts: readonly string[] = [];
  const look = async (): Promise<boolean> =>
    (texts = ((await one.kept(subject)) ?? []).map((body) => `${body.length}${text(body.subarray(0, 1))}`)).length === count;
  await until(look, () => `${count} bodies are kept, not ${texts.join(' ')}`);
  return texts;
};

test(
  'bus: published messages are read by another node in order, large bodies complete, up to the limit of a subject',
  withNats,
  async () => {
    const [a, b] = [await keeping({ each: 6 }), await keeping({ each: 6 })];
    const large = 'c'.repeat(pieceBytes + 1);
    for (const body of ['a', 'b', large]) a.publish('kept.one', Buffer.from(body));
    a.publish('kept.other', Buffer.from('x'));
    assert.deepEqual(await found(b, 'kept.one', 3), ['1a', '1b', `${large.length}c`]);
    assert.equal((await b.lastKept('kept.one'))?.length, large.length);
    assert.equal(text((await b.lastKept('kept.other'))!), 'x');
    assert.equal(await b.lastKept('kept.nothing'), null);
    assert.deepEqual(await b.kept('kept.nothing'), []);
    for (const body of 'defgh') a.publish('kept.one', Buffer.from(body));
    await until(async () => text((await b.lastKept('kept.one'))!) === 'h', 'the last one is there');
    // One piece of the large message was dropped, so the whole message is missing.
    assert.deepEqual(await found(b, 'kept.one', 5), ['1d', '1e', '1f', '1g', '1h']);
  },
);

test('bus: kept messages are limited by age and by total bytes', withNats, async () => {
  const one = await keeping({ bytes: 100_000, each: 1_000 });
  for (let n = 0; n < 20; n += 1) one.publish(`kept.bytes${n % 2}`, Buffer.alloc(20_000, 97));
  await until(async () => {
    const [first, second] = [await one.kept('kept.bytes0'), await one.kept('kept.bytes1')];
    return (first?.length ?? 0) + (second?.length ?? 0) === 4;
  }, 'four of them are left');
  const short = await keeping({ ms: 8_000 });
  short.publish('kept.age', Buffer.from('a'));
  await found(short, 'kept.age', 1);
  await found(short, 'kept.age', 0);
});

test('bus: a server without JetStream keeps nothing, which is logged once, and all other functions work', withNats, async () => {
  const lines: string[] = [];
  const note = (_fields: object, message: string): void => void lines.push(message);
  const log = { ...quietLog, warn: note, info: note };
  const [a, b] = [0, 1].map((n) => new NatsBus({ url: plain?.url ?? '', name: `plain ${n}`, log, signing: null, keep }));
  opened.push(a!, b!);
  b!.subscribe('answer', async (body) => body);
  await until(async () => (await a!.request('answer', Buffer.from('x'), 1_000)).kind === 'answered', 'commands are carried');
  await until(() => lines.filter((line) => line === 'bus.keepsNothing').length === 2, 'each says so');
  assert.deepEqual([a!.keeps, await a!.kept('kept.one'), await a!.lastKept('kept.one')], [false, null, null]);
});

/** Starts a server that accepts messages of at most 1,000 bytes, and delivers none. */
const narrow = async (): Promise<{ readonly url: string; stop(): void }> => {
  const sockets = new Set<Socket>();
  const listening = createServer((socket) => {
    sockets.add(socket);
    socket.write('INFO {"server_id":"narrow","version":"2.10.0","proto":1,"headers":true,"max_payload":1000}\r\n');
    socket.on('data', (data) => data.toString('latin1').endsWith('PING\r\n') && socket.write('PONG\r\n'));
    socket.on('error', () => undefined);
  });
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  };
  return { url: `nats://127.0.0.1:${(listening.address() as AddressInfo).port}`, stop };
};

test('bus: a request that the server would not accept is away, and such a publication is dropped', async () => {
  const { url, stop } = await narrow();
  const lines: string[] = [];
  const log = { ...quietLog, warn: (_fields: object, event: string) => void lines.push(event) };
  const one = new NatsBus({ url, name: 'v', log, signing: null });
  try {
    await until(() => one.connected, 'v is connected');
    const large = Buffer.alloc(2_000);
    assert.deepEqual(await one.request('any', large, 60_000), { kind: 'away' });
    one.publish('any', large);
    assert.deepEqual(lines, ['bus.notSent', 'bus.notSent']);
    assert.deepEqual(await one.request('any', Buffer.from('x'), 50), { kind: 'late' });
  } finally {
    await Promise.all([one.close(), stop()]);
  }
});

test('bus: after its close a request is away, and a subscription and a publication do nothing', withNats, async () => {
  const one = await bus('w');
  const closed = one.close();
  one.subscribe('late', async (body) => body)();
  one.listen('late', () => undefined)();
  one.publish('late', Buffer.from('x'));
  assert.deepEqual(await one.request('late', Buffer.from('x'), 1_000), { kind: 'away' });
  await one.flush();
  await closed;
});

test('bus: an answer that does not come in time is late', withNats, async () => {
  const [a, b] = [await bus('e'), await bus('f')];
  b.subscribe('never', () => new Promise(() => undefined));
  await until(async () => (await a.request('never', Buffer.from('x'), 50)).kind === 'late', 'f subscribes');
});

test('bus: without its server requests are away, those under way are late, and subscriptions come back', withNats, async () => {
  const [a, b] = [await bus('g'), await bus('h')];
  const held = Promise.withResolvers<Uint8Array>();
  b.subscribe('hold', () => held.promise);
  b.subscribe('back', async (body) => body);
  await until(async () => (await a.request('back', Buffer.from('x'), 1_000)).kind === 'answered', 'h subscribes');
  const under = a.request('hold', Buffer.from('x'), 60_000);
  await server?.stop();
  assert.deepEqual(await under, { kind: 'late' });
  assert.deepEqual(await a.request('back', Buffer.from('x'), 60_000), { kind: 'away' });
  const before = new NatsBus({ url: server?.url ?? '', name: 'i', log: quietLog, signing: null });
  opened.push(before);
  before.subscribe('early', async (body) => body);
  await server?.start();
  for (const subject of ['back', 'early'])
    await until(async () => (await a.request(subject, Buffer.from('x'), 1_000)).kind === 'answered', `${subject} answers again`);
});

test('bus: the connection to a paused server is given up, and opened again when the server continues', withNats, async () => {
  const still = await NatsServer.open({ jetStream: false });
  const made = new NatsBus({ url: still.url, name: 'still', log: quietLog, signing: null });
  const kind = async (): Promise<string> => (await made.request('nowhere', Buffer.from(''), 200)).kind;
  try {
    await until(async () => (await kind()) === 'nobody', 'it is connected');
    still.pause();
    await until(async () => (await kind()) === 'away', 'it is given up');
    still.resume();
    await until(async () => (await kind()) === 'nobody', 'it is found again');
  } finally {
    still.resume();
    await made.close();
    await still.stop();
  }
});

test('bus: after a time in which the server refuses the credentials the bus reconnects, with all subscriptions', withNats, async () => {
  const strict = await NatsServer.open({ jetStream: false });
  const [a, b] = ['t', 'u'].map((name) => new NatsBus({ url: strict.url, name, log: quietLog, signing: null })) as [NatsBus, NatsBus];
  opened.push(a, b);
  b.subscribe('before', async (body) => body);
  const answers = async (subject: string): Promise<boolean> => (await a.request(subject, Buffer.from('x'), 500)).kind === 'answered';
  try {
    await until(() => answers('before'), 'b subscribes');
    await strict.stop();
    await strict.start({ token: 'secret' });
    // The pause is longer than the time after which the library gives up because of refusals.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.deepEqual([a.connected, b.connected], [false, false]);
    b.subscribe('meanwhile', async (body) => body);
    await strict.stop();
    await strict.start();
    for (const subject of ['before', 'meanwhile']) await until(() => answers(subject), `${subject} answers`);
    assert.equal(a.connected, true);
  } finally {
    await a.close();
    await b.close();
    await strict.stop();
  }
});

test('pieces: a body with a lost piece is never delivered, and is forgotten in time', () => {
  const assembly = new Assembly();
  const pieces = inPieces('a', Buffer.alloc(3 * pieceBytes)) ?? [];
  assert.equal(pieces.length, 3);
  assert.equal(assembly.add(pieces[0]!), null);
  assert.equal(assembly.add(pieces[2]!), null);
  assert.equal(assembly.add(pieces[1]!), null);
  for (const piece of pieces.slice(0, 2)) assert.equal(assembly.add(piece), null);
  assert.equal(assembly.add(pieces[2]!)?.length, 3 * pieceBytes);
});
