/** Tests the options of a row in the table of routes, with rows that exist only in this test. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type TUnknown, Type } from 'typebox';
import { refuse, type Result } from '#actors/gateway.ts';
import { buildApp } from '#src/http/app.ts';
import { answered, done, type OperationSpec, performs, type Route, route, type RouteSpec } from '#src/http/route.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { operationsOf } from '#test/support/openapi.ts';
import { asInstance, optionsWith } from './setup.ts';

const common = { operationId: 'tried', credential: 'instance', tag: 'server', summary: 'Try a row' } as const;

const Answer = Type.Object({ ok: Type.Boolean() });

/** The type of `run` in a row with the schema `Answer` for 200 and for 207. */
type Run = RouteSpec<TUnknown, TUnknown, TUnknown, typeof Answer, { readonly 207: typeof Answer }>['run'];
type Accepted<Returned> = (() => Returned) extends Run ? true : false;
/** Results that `run` may return. The compiler checks them: a wrong result is a type error. */
const accepted: readonly [
  Accepted<Result<{ readonly ok: boolean }>>,
  Accepted<Promise<Result<{ readonly ok: boolean }>>>,
  Accepted<{ readonly ok: true; readonly status: 207; readonly value: { readonly ok: true } }>,
  Accepted<null>,
] = [true, true, true, true];
const rejected: readonly [
  Accepted<Result<{ readonly ok: string }>>,
  Accepted<Result<{ readonly fine: boolean }>>,
  Accepted<{ readonly ok: true; readonly status: 202; readonly value: { readonly ok: true } }>,
  Accepted<{ readonly ok: boolean }>,
] = [false, false, false, false];

test('row: the compiler compares the result of `run` with the schema of the answer', () => {
  assert.deepEqual([new Set(accepted), new Set(rejected)], [new Set([true]), new Set([false])]);
});

const appWith = async (t: TestContext, ...rows: readonly Route[]) => {
  const app = await buildApp(createFakeGateway(), optionsWith({}), rows);
  t.after(() => app.close());
  return app;
};

test('row: path parameters are validated and passed on, and the OpenAPI document names them', async (t) => {
  const app = await appWith(
    t,
    route({
      ...common,
      on: ['PUT /tried/:id'],
      params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
      query: Type.Object({ all: Type.Optional(Type.Boolean()) }),
      answer: Type.Object({ id: Type.Integer(), all: Type.Boolean() }),
      run: ({ params, query }) => done({ id: params.id, all: query.all ?? false }),
    }),
  );
  const put = (url: string) => app.inject({ method: 'PUT', url, headers: asInstance });
  assert.deepEqual((await put('/tried/7?all=true')).json(), { id: 7, all: true });
  const wrong = await put('/tried/0');
  assert.deepEqual([wrong.statusCode, wrong.json()], [400, { error: 'id must be at least 1' }]);
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  const { parameters } = paths['/tried/{id}'].put;
  assert.deepEqual(
    parameters.map((one: { name: string; in: string; required?: boolean }) => [one.name, one.in, one.required === true]),
    [
      ['all', 'query', false],
      ['id', 'path', true],
    ],
  );
});

test('row: a success has the status of the row, unless `run` selects another status', async (t) => {
  const Partly = Type.Object({ failed: Type.Array(Type.String()) });
  const app = await appWith(
    t,
    route({ ...common, on: ['POST /later'], answer: Answer, status: 202, run: () => done({ ok: true }) }),
    route({
      ...common,
      operationId: 'partly',
      on: ['POST /partly'],
      body: Type.Object({ fail: Type.Boolean() }),
      answer: Answer,
      also: { 207: Partly },
      run: ({ body }) => (body.fail ? answered(207, { failed: ['a'] }) : done({ ok: true })),
    }),
  );
  const post = async (url: string, payload: object) => {
    const reply = await app.inject({ method: 'POST', url, headers: asInstance, payload });
    return [reply.statusCode, reply.json()];
  };
  assert.deepEqual(await post('/later', {}), [202, { ok: true }]);
  assert.deepEqual(await post('/partly', { fail: 'false' }), [200, { ok: true }]);
  assert.deepEqual(await post('/partly', { fail: true }), [207, { failed: ['a'] }]);
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  assert.deepEqual(Object.keys(paths['/later'].post.responses).slice(0, 1), ['202']);
  assert.ok(paths['/partly'].post.responses['207'].content['application/json'].schema.properties.failed);
});

test('row: a refusal may have its own status, text and fields', async (t) => {
  const app = await appWith(
    t,
    route({
      ...common,
      on: ['POST /refused'],
      body: Type.Object({ reason: Type.Unsafe<'notFound' | 'conflict' | 'refused'>({ type: 'string' }) }),
      answer: Answer,
      refusals: {
        notFound: { status: 400, text: 'No such thing' },
        conflict: { fields: { request: Type.String() }, details: (_refusal, { id }) => ({ request: id }) },
        refused: { status: 400 },
      },
      run: ({ body }) => refuse(body.reason, 'the sentence of the gateway', { code: 404 }),
    }),
  );
  const post = async (reason: string) => {
    const reply = await app.inject({ method: 'POST', url: '/refused', headers: asInstance, payload: { reason } });
    return [reply.statusCode, reply.json()];
  };
  assert.deepEqual(await post('notFound'), [400, { error: 'No such thing' }]);
  assert.deepEqual(await post('conflict'), [409, { error: 'the sentence of the gateway', request: 'r183e2ef9597845' }]);
  const quoted = { error: 'the sentence of the gateway', error_source: 'whatsapp_server', provider: 'whatsapp', provider_code: 404 };
  assert.deepEqual(await post('refused'), [400, quoted]);
  const operation = operationsOf((await app.inject({ url: '/openapi.json' })).json()).get('POST /refused');
  const { description = '', responses = {} } = operation ?? {};
  assert.match(description, / 400 `No such thing`/);
  assert.ok(JSON.stringify(responses['409']).includes('"request"'));
});

/** The operation of the tested row. The compiler checks its input: a wrong type is a type error. */
type Muting = OperationSpec<'channel.mute', TUnknown, TUnknown, TUnknown, typeof Answer>;
type TakenAsInput<Input> = (() => Input) extends Muting['input'] ? true : false;
const inputs: readonly [TakenAsInput<{ channelId: string; mute: boolean }>, TakenAsInput<ReturnType<typeof refuse>>] = [true, true];
const wrongInputs: readonly [TakenAsInput<{ channelId: string }>, TakenAsInput<{ channelId: string; mute: string }>, TakenAsInput<null>] = [
  false,
  false,
  false,
];

test('row: the compiler compares the input of an operation with its name', () => {
  assert.deepEqual([new Set(inputs), new Set(wrongInputs)], [new Set([true]), new Set([false])]);
});

test('row: an operation runs with its input and its output is shown, and a refused input reaches no session', async (t) => {
  const gateway = createFakeGateway();
  const row = performs({
    on: ['POST /tried'],
    operationId: 'tried',
    tag: 'server',
    summary: 'Try a row',
    body: Type.Object({ after: Type.String() }),
    answer: Type.Object({ collections: Type.Integer(), after: Type.String() }),
    refusals: { conflict: {} },
    operation: 'collection.list',
    input: ({ body }) => (body.after === '' ? refuse('conflict', 'no page') : { after: body.after }),
    shown: ({ collections }, { body }) => ({ collections: collections.length, after: body.after }),
  });
  const app = await buildApp(gateway, optionsWith({}), [row]);
  t.after(() => app.close());
  const post = async (after: string) => {
    const reply = await app.inject({ method: 'POST', url: '/tried', headers: asInstance, payload: { after } });
    return [reply.statusCode, reply.json()];
  };
  assert.deepEqual(await post(''), [409, { error: 'no page' }]);
  assert.deepEqual(gateway.operations, []);
  assert.deepEqual(await post('a'), [200, { collections: 1, after: 'a' }]);
  assert.deepEqual(gateway.operations, [{ name: 'collection.list', input: { after: 'a' } }]);
});

test('row: the body limit of a row overrides the common limit', async (t) => {
  const row = (url: `/${string}`, bytes: number) =>
    route({ ...common, operationId: url, on: [`POST ${url}`], bodyLimit: { bytes }, answer: Answer, run: () => done({ ok: true }) });
  const app = await appWith(t, row('/small', 100), row('/large', 10_000_000));
  const post = (url: string) => app.inject({ method: 'POST', url, headers: asInstance, payload: { text: 'x'.repeat(2_000_000) } });
  const small = await post('/small');
  assert.deepEqual([small.statusCode, small.json()], [413, { error: 'the body is too large: at most 100 bytes' }]);
  assert.equal((await post('/large')).statusCode, 200);
});

const faults: readonly (readonly [title: string, row: object, pattern: RegExp])[] = [
  ['has no credential', { credential: undefined }, /GET \/faulty names no credential/],
  ['has a credential that does not exist', { credential: 'nobody' }, /GET \/faulty names no credential/],
  ['has no operationId', { operationId: '' }, /has no operationId/],
  ['does not describe its path parameters', { on: ['GET /faulty/:id'] }, /path parameters "id"/],
  ['describes path parameters that it does not have', { params: Type.Object({ id: Type.String() }) }, /describes "id"/],
];

for (const [title, part, pattern] of faults) {
  test(`row: a row that ${title} ends the start`, async () => {
    const row = { ...common, on: ['GET /faulty'], answer: Answer, run: () => done({ ok: true }), ...part } as unknown as Route;
    await assert.rejects(buildApp(createFakeGateway(), optionsWith({}), [row]), pattern);
  });
}

test('row: two rows with one operationId end the start', async () => {
  const row = (path: `/${string}`) => route({ ...common, on: [`GET ${path}`], answer: Answer, run: () => done({ ok: true }) });
  await assert.rejects(buildApp(createFakeGateway(), optionsWith({}), [row('/one'), row('/two')]), /operationId "tried" twice/);
});
