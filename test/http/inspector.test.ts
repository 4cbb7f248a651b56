/** Tests the inspector over HTTP: permissions, calls of the gateway, and the streams. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sampleActor } from '#test/fakes/inspector.ts';
import { now } from '#test/contract/samples.ts';
import { asAdmin, asInstance, setUp, until, setUpCommon } from './setup.ts';

const { id } = sampleActor;

const addresses = [
  'GET /admin/machines',
  'GET /admin/machines/lifecycle/stately',
  'GET /admin/actors',
  `GET /admin/actors/${id}`,
  `GET /admin/actors/${id}/picture`,
  'GET /admin/actors/stream',
  `GET /admin/actors/${id}/stream`,
  `POST /admin/actors/${id}/events`,
] as const;

for (const address of addresses)
  test(`${address}: only the administrator has access`, async () => {
    const { app } = await setUpCommon();
    const [method, url] = address.split(' ') as ['GET' | 'POST', string];
    const payload = method === 'POST' ? { payload: { type: 'wake' } } : {};
    assert.equal((await app.inject({ method, url, headers: asInstance, ...payload })).statusCode, 401);
    assert.equal((await app.inject({ method, url, headers: { admintoken: 'wrong' }, ...payload })).statusCode, 403);
  });

test('GET /admin/machines: returns both state charts with their layouts', async () => {
  const { app } = await setUpCommon();
  const machines = (await app.inject({ url: '/admin/machines', headers: asAdmin })).json<{ id: string; layouts: object }[]>();
  assert.deepEqual(
    machines.map((machine) => machine.id),
    ['lifecycle', 'instance'],
  );
  assert.ok(machines.every(({ layouts }) => typeof layouts === 'object'));
});

test('GET /admin/machines/{id}/stately: returns a module as text, and 400 for an unknown machine', async () => {
  const { app } = await setUpCommon();
  const source = await app.inject({ url: '/admin/machines/lifecycle/stately', headers: asAdmin });
  assert.match(String(source.headers['content-type']), /^text\/plain/);
  assert.match(source.body, /^import \{ createMachine \} from 'xstate';/);
  assert.equal((await app.inject({ url: '/admin/machines/other/stately', headers: asAdmin })).statusCode, 400);
});

test('GET /admin/actors: passes filters, order and page on to the gateway', async () => {
  const { app, gateway } = await setUpCommon();
  const url = '/admin/actors?state=connecting.waiting,needsPerson&reason=locked&q=%20Ana%20&sort=-since&limit=5000&after=abc';
  assert.equal((await app.inject({ url, headers: asAdmin })).statusCode, 200);
  await app.inject({ url: '/admin/actors', headers: asAdmin });
  const [asked, usual] = gateway.inspector.queries;
  const states = ['connecting.waiting', 'needsPerson'];
  assert.deepEqual(asked, { states, causes: ['locked'], text: 'Ana', sort: 'since', descending: true, after: 'abc', limit: 1000 });
  assert.deepEqual(usual, { states: [], causes: [], text: '', sort: 'trouble', descending: false, after: '', limit: 200 });
  assert.equal((await app.inject({ url: '/admin/actors?sort=colour', headers: asAdmin })).statusCode, 400);
});

test('GET /admin/actors/{id}: each step has its cause as a sentence', async () => {
  const { app } = await setUpCommon();
  const actor = (await app.inject({ url: `/admin/actors/${id}`, headers: asAdmin })).json<{ steps: { why: string }[] }>();
  assert.equal(
    actor.steps.at(-1)?.why,
    'The platform closed the connection (503: the platform is unavailable); the session tries again after a pause.',
  );
  const missing = await app.inject({ url: '/admin/actors/nobody', headers: asAdmin });
  assert.deepEqual([missing.statusCode, missing.json()], [404, { error: 'instance not found' }]);
});

const events: readonly (readonly [body: object, event: object | string])[] = [
  [{ type: 'reconnect' }, { type: 'reconnect' }],
  [
    { type: 'clearCircuit', webhook: 'w1' },
    { type: 'clearCircuit', webhookId: 'w1' },
  ],
  [{ type: 'restartWorker' }, { type: 'restartWorker', worker: null }],
  [
    { type: 'logLevel', level: 'debug', minutes: 5 },
    { type: 'logLevel', level: 'debug', ms: 300_000 },
  ],
  [{ type: 'clearCircuit' }, 'webhook is required'],
  [{ type: 'logLevel' }, 'level is required'],
  [{ type: 'explode' }, 'type must be one of reconnect, hibernate, wake, clearCircuit, restartWorker, logLevel'],
  [{}, 'type is required'],
];
for (const [body, event] of events)
  test(`POST /admin/actors/{id}/events: ${JSON.stringify(body)}`, async () => {
    const { app, gateway } = await setUpCommon();
    const reply = await app.inject({ method: 'POST', url: `/admin/actors/${id}/events`, headers: asAdmin, payload: body });
    const { acts } = gateway.inspector;
    if (typeof event === 'string') {
      assert.deepEqual([reply.statusCode, acts], [400, []]);
      assert.match(reply.json<{ error: string }>().error, new RegExp(event.split(' ')[0] ?? ''));
      return;
    }
    assert.deepEqual([reply.statusCode, acts], [200, [{ id, event, by: { address: '127.0.0.1', via: 'token' } }]]);
  });

interface Reader {
  readonly response: Response;
  text(): string;
  readonly ended: Promise<void>;
  leave(): void;
}

const read = async (t: TestContext, url: string, headers: Readonly<Record<string, string>> = {}): Promise<Reader> => {
  const abort = new AbortController();
  t.after(() => abort.abort());
  const response = await fetch(url, { headers: { ...asAdmin, ...headers }, signal: abort.signal });
  let text = '';
  const consume = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  };
  return { response, text: () => text, ended: consume().catch(() => undefined), leave: () => abort.abort() };
};

const step = { ...sampleActor.steps[0], n: 3, at: now } as (typeof sampleActor.steps)[number];

test('GET /admin/actors/{id}/stream: sends each step as an event with its number, and not to pages of another origin', async (t) => {
  const { gateway, address } = await setUp(t);
  const stream = await read(t, `${await address()}/admin/actors/${id}/stream`);
  assert.equal(stream.response.headers.get('access-control-allow-origin'), null);
  assert.match(stream.response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const [watcher] = gateway.inspector.stepWatchers;
  watcher?.onStep(step);
  await until(() => stream.text().includes('id: 3'));
  assert.match(stream.text(), /event: step\ndata: \{"n":3,.*"why":"[^"]+"\}\nid: 3\n\n/);
  watcher?.onEnd();
  await stream.ended;
  await until(() => gateway.inspector.stepWatchers.size === 0);
});

const resumed: readonly (readonly [title: string, header: string | null, query: string, numbers: readonly number[], gap: boolean])[] = [
  ['nothing that was before', null, '', [], false],
  ['what follows Last-Event-ID', '1', '', [2], false],
  ['what follows the query', null, '?after=0', [1, 2], false],
  ['all that is held, after a number of an earlier process', '70', '', [1, 2], true],
];
for (const [title, header, query, numbers, gap] of resumed)
  test(`GET /admin/actors/{id}/stream: begins with ${title}`, async (t) => {
    const { address } = await setUp(t);
    const headers = header === null ? {} : { 'last-event-id': header };
    const stream = await read(t, `${await address()}/admin/actors/${id}/stream${query}`, headers);
    await until(() => stream.text().includes('stream open') && numbers.every((n) => stream.text().includes(`id: ${n}\n`)));
    assert.deepEqual(
      [...stream.text().matchAll(/^id: (\d+)$/gm)].map(([, n]) => Number(n)),
      numbers,
    );
    assert.equal(stream.text().includes(': gap'), gap);
  });

test('GET /admin/actors/stream: sends batches of changes with the counts of states', async (t) => {
  const { gateway, address } = await setUp(t);
  const stream = await read(t, `${await address()}/admin/actors/stream`);
  const counts = { connected: 1, connecting: 0, hibernated: 0, disconnected: 0, needsPerson: 0 };
  const row = { state: 'connected', since: now, reason: '', status: 'connected', needsPerson: false, linked: true } as const;
  const [watcher] = gateway.inspector.listWatchers;
  watcher?.onChanges({
    rows: [
      [id, row],
      ['r2', null],
    ],
    counts,
  });
  await until(() => stream.text().includes('\n\nevent: moved'));
  const changes = [
    [id, 'connected', now, '', 'connected', false, true],
    ['r2', '', 0, '', '', false, false],
  ];
  assert.ok(stream.text().includes(`event: moved\ndata: ${JSON.stringify({ changes, counts })}\n\n`));
});

test('inspector streams: their number is limited, an unknown instance is 404, and a stop of the server ends them', async (t) => {
  const { app, gateway, address } = await setUp(t, { stream: { inspectorPerCaller: 2 } });
  const base = await address();
  assert.equal((await fetch(`${base}/admin/actors/nobody/stream`, { headers: asAdmin })).status, 404);
  const streams = [await read(t, `${base}/admin/actors/stream`), await read(t, `${base}/admin/actors/${id}/stream`)];
  const refused = await fetch(`${base}/admin/actors/stream`, { headers: asAdmin });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '15']);
  streams[0]?.leave();
  await until(() => gateway.inspector.listWatchers.size === 0);
  const third = await read(t, `${base}/admin/actors/stream`);
  assert.equal(third.response.status, 200);
  const closed = app.close();
  await Promise.all([third.ended, streams[1]?.ended]);
  await closed;
  assert.equal(gateway.inspector.listWatchers.size + gateway.inspector.stepWatchers.size, 0);
});

test('inspector streams: each caller has a separate limit, and all callers share a total limit', async (t) => {
  const { address } = await setUp(t, { stream: { inspectorPerCaller: 2, inspectorInAll: 3 }, trustedProxies: ['loopback'] });
  const url = `${await address()}/admin/actors/stream`;
  const from = async (client: string) => (await read(t, url, { 'x-forwarded-for': client })).response;
  const statuses = [];
  for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']) statuses.push((await from(client)).status);
  assert.deepEqual(statuses, [200, 200, 429, 200, 429]);
  assert.deepEqual(await (await fetch(url, { headers: { ...asAdmin, 'x-forwarded-for': '192.0.2.4' } })).json(), {
    error: 'Maximum number of open streams of the inspector reached (3)',
  });
});

test('inspector streams: the server disconnects a client that does not read', async (t) => {
  const { gateway, address } = await setUp(t, { stream: { backlogBytes: 1024, graceMs: 20 } });
  const abort = new AbortController();
  t.after(() => abort.abort());
  await fetch(`${await address()}/admin/actors/${id}/stream`, { headers: asAdmin, signal: abort.signal });
  const [watcher] = gateway.inspector.stepWatchers;
  for (let n = 0; n < 60_000; n += 1) watcher?.onStep({ ...step, n });
  await until(() => gateway.inspector.stepWatchers.size === 0);
});

test('GET /admin/actors/{id}/picture: browsers may cache it, a current copy gets 304, and an instance without one gets 404', async () => {
  const { app } = await setUpCommon();
  const url = `/admin/actors/${id}/picture`;
  const reply = await app.inject({ url, headers: asAdmin });
  assert.deepEqual([reply.statusCode, reply.headers['content-type'], reply.headers['etag']], [200, 'image/jpeg', '"abc"']);
  assert.match(String(reply.headers['cache-control']), /^private, max-age=86400$/);
  assert.deepEqual([...reply.rawPayload], [0xff, 0xd8, 0xff]);
  assert.equal((await app.inject({ url, headers: { ...asAdmin, 'if-none-match': '"abc"' } })).statusCode, 304);
  const missing = await app.inject({ url: '/admin/actors/nobody/picture', headers: asAdmin });
  assert.deepEqual([missing.statusCode, missing.json()], [404, { error: 'there is no picture' }]);
});
