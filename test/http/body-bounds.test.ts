/** Tests the limits of request bodies: their depth, their number of values, the bytes in memory at the same time, and the time-out after an upload. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { fastify, type FastifyInstance, type FastifyRequest, type preParsingHookHandler } from 'fastify';
import { takeBytes } from '#src/http/body.ts';
import { BodyBudget, boundBodies, checkShape, deepest, mostValues } from '#src/http/body-bounds.ts';
import { asInstance, setUp, setUpCommon, token, until } from './setup.ts';

const shapes: readonly (readonly [title: string, text: string, refusal: RegExp | null])[] = [
  ['lists as deep as allowed', '['.repeat(deepest) + ']'.repeat(deepest), null],
  ['lists that are deeper', '['.repeat(deepest + 1), /nested deeper than 100 levels/],
  ['objects that are deeper', '{"a":'.repeat(deepest + 1), /nested deeper/],
  ['many lists side by side', `[${'[],'.repeat(1_000)}[]]`, null],
  ['more empty lists than values are allowed', '[],'.repeat(mostValues), /more than 1000000 values/],
  ['more numbers than values are allowed', '1,'.repeat(mostValues + 1), /more than 1000000 values/],
  ['brackets and commas in a string', `"${'[{,'.repeat(mostValues)}"`, null],
  ['brackets after an escaped mark', String.raw`"\"${'['.repeat(deepest + 1)}"`, null],
  ['brackets after a string that ends with a backslash', String.raw`"\\"${'['.repeat(deepest + 1)}`, /nested deeper/],
  ['a string without an end', `"${'['.repeat(deepest + 1)}`, null],
];
for (const [title, text, refusal] of shapes) {
  test(`checkShape: ${refusal === null ? 'accepts' : 'refuses'} ${title}`, () => {
    const check = (): void => checkShape(Buffer.from(text));
    if (refusal === null) check();
    else assert.throws(check, refusal);
  });
}

test('bodies: a body of nested brackets is refused before it is parsed', async (t) => {
  const { app } = await setUp(t, { mediaBytes: 32 * 1024 * 1024 });
  const payload = '['.repeat(40_000_000);
  const before = process.memoryUsage().heapUsed;
  const answer = await app.inject({ method: 'POST', url: '/send/media', headers: asInstance, payload });
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.json().error, 'the body is nested deeper than 100 levels');
  assert.ok(process.memoryUsage().heapUsed - before < 200_000_000, `${process.memoryUsage().heapUsed - before}`);
});

const openRoutes = [
  ['POST', '/admin/session/user', 16_384],
  ['POST', '/chatwoot/webhook/hook', 262_144],
  ['OPTIONS', '/passkey', 1_024],
] as const;
for (const [method, url, bytes] of openRoutes) {
  test(`bodies: without a credential, ${method} ${url} reads at most ${bytes} bytes`, async () => {
    const { app } = await setUpCommon();
    const post = (length: number) =>
      app.inject({ method, url, headers: { 'content-type': 'application/json' }, payload: JSON.stringify('x'.repeat(length - 2)) });
    assert.notEqual((await post(bytes)).statusCode, 413);
    assert.equal((await post(bytes + 1)).statusCode, 413);
  });
}

test('BodyBudget: limits the bytes of each caller and of all callers, and counts no refused bytes', () => {
  const budget = new BodyBudget(20, 50);
  assert.ok(budget.take('a', 15));
  assert.ok(!budget.take('a', 6));
  assert.ok(budget.take('a', 5) && budget.take('b', 20));
  assert.ok(!budget.take('c', 11));
  assert.equal(budget.held, 40);
  budget.giveBack('a', 20);
  assert.ok(budget.take('c', 20));
  budget.giveBack('b', 20);
  budget.giveBack('c', 20);
  assert.equal(budget.held, 0);
});

/** Sends the first bytes of a body and keeps the connection open. */
const begins = async (address: string, sent: number): Promise<{ readonly socket: Socket; readonly heard: () => string }> => {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => void (text += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`POST /send/media HTTP/1.1\r\ntoken: ${token}\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\n\r\n`);
  socket.write(`{"file":"${'A'.repeat(sent)}`);
  return { socket, heard: () => text };
};

test('bodies: bodies that need too much memory together are refused, and a finished body frees its bytes', async (t) => {
  // The largest body has 2 MiB, so a caller may hold 4 MiB.
  const { address } = await setUp(t, { mediaBytes: 1 });
  const at = await address();
  const open = await Promise.all([begins(at, 1_500_000), begins(at, 1_500_000), begins(at, 1_500_000)]);
  await until(() => open.some(({ heard }) => heard() !== ''));
  const [refused] = open.filter(({ heard }) => heard() !== '');
  assert.equal(open.filter(({ heard }) => heard() !== '').length, 1);
  assert.match(refused!.heard(), /^HTTP\/1\.1 429 .*retry-after: 2\r\n.*too many bytes of bodies are under way: try again/s);
  const body = JSON.stringify({ number: '5511988887777', text: 'small bodies go on' });
  const headers = { ...asInstance, 'content-type': 'application/json' };
  assert.equal((await fetch(`${at}/send/text`, { method: 'POST', headers, body })).status, 200);
  for (const { socket } of open) socket.destroy();
  const large = JSON.stringify({ number: '5511988887777', type: 'image', file: 'A'.repeat(1_900_000) });
  const again = async (): Promise<number> => (await fetch(`${at}/send/media`, { method: 'POST', headers, body: large })).status;
  assert.notEqual(await again(), 429);
  assert.notEqual(await again(), 429, 'an answer that has left gives its bytes back');
  assert.notEqual(await again(), 429);
});

const largest = 2_097_152;

/** Installs the bounds in a stand-in of the app. Returns a function that sends bytes of a body, and returns true if the bytes are accepted. */
const boundedBodies = () => {
  let hook: preParsingHookHandler | undefined;
  boundBodies({ addHook: (_name: string, given: preParsingHookHandler) => void (hook = given) } as unknown as FastifyInstance, largest);
  const replies: EventEmitter[] = [];
  const sends = (bytes: number, from: Partial<Pick<FastifyRequest, 'ip' | 'instanceId' | 'caller' | 'method'>>): boolean => {
    const [raw, payload] = [new EventEmitter(), new EventEmitter()];
    replies.push(raw);
    const headers = { 'content-length': String(bytes) };
    const request = { method: 'POST', headers, routeOptions: { config: {} }, instanceId: '', ip: '10.0.0.1', caller: null, ...from };
    let isAccepted = true;
    payload.on('error', () => (isAccepted = false));
    Reflect.apply(hook!, undefined, [request, { raw, header: () => undefined }, payload, () => undefined]);
    payload.emit('data', Buffer.alloc(bytes));
    return isAccepted;
  };
  return { sends, answerAll: () => void replies.splice(0).forEach((raw) => raw.emit('close')) };
};

test('bodies: small bodies without a credential count, for all addresses of an IPv6 customer together', () => {
  const { sends, answerAll } = boundedBodies();
  for (let index = 1; index <= 8; index += 1) assert.ok(sends(65_536, { ip: `2001:db8::${index}` }));
  assert.ok(!sends(65_536, { ip: '2001:db8::9' }));
  assert.ok(sends(65_536, { ip: '2001:db8:0:1::1' }));
  answerAll();
  assert.ok(sends(65_536, { ip: '2001:db8::9' }));
});

test('bodies: those without a credential take no room of instances and administrators', () => {
  const { sends } = boundedBodies();
  const strangers = Array.from({ length: 16 }, (_, index) => sends(262_144, { ip: `10.0.1.${index}` }));
  assert.equal(strangers.filter((isAccepted) => isAccepted).length, 8);
  const admin = { ip: '10.0.1.0', caller: { actor: 'adminToken' } } as const;
  const ofInstance = (instanceId: string) => ({ instanceId, caller: { actor: 'instanceToken' } }) as const;
  assert.ok(sends(2 * largest, admin));
  assert.ok(sends(2 * largest, ofInstance('r1')));
  assert.ok(sends(largest, ofInstance('r2')));
  assert.ok(!sends(largest, ofInstance('r3')), 'all bodies together have at most six times the largest body');
  assert.ok(sends(65_536, admin));
});

test('bodies: large bodies with the admin token count for all addresses of an IPv6 customer together', () => {
  const { sends } = boundedBodies();
  const caller = { actor: 'adminToken' } as const;
  assert.ok(sends(2 * largest, { ip: '2001:db8::1', caller }));
  assert.ok(!sends(largest, { ip: '2001:db8::2', caller }));
});

for (const method of ['GET', 'HEAD'])
  test(`bodies: the body of a ${method} request is not read, and so it is not counted`, () => {
    const { sends } = boundedBodies();
    assert.ok(sends(3 * largest, { method }));
  });

test('uploads: a connection keeps its idle time-out after an upload that was refused before its body was read', async (t) => {
  const app = fastify({ requestTimeout: 300_000 });
  t.after(() => app.close());
  const [sockets, requests]: [Socket[], FastifyRequest['raw'][]] = [[], []];
  app.server.on('connection', (socket: Socket) => void sockets.push(socket));
  takeBytes(app);
  app.post('/upload', ({ raw }, reply) => {
    requests.push(raw);
    return reply.code(409).send({ error: 'refused' });
  });
  const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const client = connect(Number(port), hostname);
  let heard = '';
  client.on('data', (chunk) => void (heard += chunk.toString()));
  client.write('POST /upload HTTP/1.1\r\nhost: test\r\ncontent-type: application/gzip\r\ncontent-length: 100000\r\n\r\n');
  await until(() => heard.includes('409'));
  client.write('A'.repeat(100_000));
  await until(() => requests[0]?.closed === true);
  const [socket] = sockets;
  assert.ok(socket?.timeout, 'an idle connection ends');
  assert.notEqual(socket.timeout, 300_000);
  client.destroy();
});
