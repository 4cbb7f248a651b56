/** Tests invalid input on every route of the table. A new route is tested as soon as it is in the table. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { buildApp } from '#src/http/app.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import { type Route, wrongCodeText } from '#src/http/route.ts';
import { AdminSessions } from '#src/http/dashboard.ts';
import { allRoutes } from '#src/http/routes/index.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { createFakeGateway, type FakeGateway } from '#test/fakes/gateway.ts';
import { asAdmin, asBrowser, asInstance, bodyLimit, optionsWith, token } from './setup.ts';

type Method = NonNullable<InjectOptions['method']> & string;

const options = optionsWith({});
let gateway: FakeGateway;
let app: FastifyInstance;
let demo: FastifyInstance;

before(async () => {
  gateway = createFakeGateway();
  app = await buildApp(gateway, options);
  demo = await buildApp(gateway, { ...options, demoServer: true });
});
after(() => Promise.all([app.close(), demo.close()]));

const catalogue = createFakeGateway();
const hub = new Hub({ gateway: catalogue, limits: defaultStreamLimits, log: options.log });
const routes: readonly Route[] = allRoutes(options, hub, new AdminSessions(60_000, null));
hub.close();

interface Target {
  readonly name: string;
  readonly spec: Route;
  readonly method: Method;
  readonly url: string;
}

const targets: readonly Target[] = routes.flatMap((spec) =>
  spec.on.map((name) => {
    const [method, url] = name.split(' ') as [Method, string];
    return { name, spec, method, url: spec.credential === 'stream' ? `${url}?token=${token}` : url };
  }),
);
/** Routes with a JSON body. `moving.test.ts` tests the routes with a body of bytes. */
const withBody = targets.filter(({ method, spec }) => method !== 'GET' && spec.takesBytes === undefined);
const fieldsOf = ({ body }: Route): readonly string[] => Object.keys((body as { properties?: object } | undefined)?.properties ?? {});

const call = ({ method, url }: Target, more: Partial<InjectOptions> = {}) =>
  app.inject({ method, url, ...more, headers: { ...asInstance, ...asAdmin, ...asBrowser, ...more.headers } });

type Reply = Awaited<ReturnType<typeof call>>;

/** Asserts that a reply is an error in the usual form with one of the expected statuses. */
const isRefused = (reply: Reply, ...expected: readonly number[]): void => {
  assert.ok(expected.includes(reply.statusCode), `${reply.statusCode} ${reply.body.slice(0, 200)}`);
  const body = reply.json();
  assert.ok(typeof body.error === 'string' && body.error.length > 0 && body.error.length < 500, reply.body.slice(0, 200));
};

const json = (payload: string | Buffer): Partial<InjectOptions> => ({ payload, headers: { 'content-type': 'application/json' } });

const notObjects = ['null', '[]', '[{"number":"1","text":"x"}]', '5', '"text"', 'true'];
const notJson = ['{', '{"a":}', 'number=1&text=x', '\u0000', '{"number":"1"', "{'a':1}", '<xml/>'];
const poisoned = ['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"admin":true}}}'];
const unstorable = [String.raw`{"name":"a\u0000b"}`, String.raw`{"text":["\ud800"]}`, String.raw`{"\u0000":1}`];
/** Encoded once, because encoding it for every route takes a quarter of the processor time of this file. */
const oversized = Buffer.from(`{"text":"${'x'.repeat(10 * bodyLimit)}"}`);
const nested = (depth: number): string => `{"a":${'['.repeat(depth)}"\\u0000"${']'.repeat(depth)}}`;

test('bodies: a body that is nested deeper than any stack is refused', async () => {
  for (const target of withBody.slice(0, 3)) isRefused(await call(target, json(nested(100_000))), 400);
});

for (const target of withBody) {
  test(`${target.name}: refuses bodies that are not a JSON object`, async () => {
    for (const text of [...notObjects, ...notJson, ...poisoned, ...unstorable, nested(1_000)])
      isRefused(await call(target, json(text)), 400);
  });

  test(`${target.name}: refuses a body of 10 MB`, async () => {
    isRefused(await call(target, json(oversized)), 413);
  });

  test(`${target.name}: refuses other content types, and reads an empty body as an empty object`, async () => {
    const form = { payload: 'number=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    isRefused(await call(target, form), 415);
    const missing = fieldsOf(target.spec).length > 0;
    for (const payload of ['', '  \n']) {
      const reply = await call(target, { payload, headers: { 'content-type': 'application/json; charset=utf-8' } });
      const usual = target.spec.status ?? 200;
      if (missing && reply.statusCode !== usual) isRefused(reply, 400);
      // The placeholder in the address is not the id of an object.
      else if (target.url.includes('/:') && reply.statusCode !== usual) isRefused(reply, 404);
      else assert.equal(reply.statusCode, usual, reply.body);
      // Some of these calls delete or rename the instance, so the next call gets a new gateway.
      Object.assign(gateway, createFakeGateway());
    }
  });

  test(`${target.name}: a field with a wrong type, length or range causes no unexpected error`, async () => {
    const wrong = [
      { a: 1 },
      [{}],
      [[1]],
      true,
      -1,
      1.5,
      1e300,
      -1e300,
      '',
      ' ',
      'x'.repeat(3000),
      '%00',
      '\u202e',
      "'; drop table message; --",
    ];
    for (const field of fieldsOf(target.spec)) {
      const replies = await Promise.all(wrong.map((value) => call(target, json(JSON.stringify({ [field]: value })))));
      for (const reply of replies) if (reply.statusCode !== (target.spec.status ?? 200)) isRefused(reply, 400, 404);
      isRefused(replies[0] as Reply, 400);
      Object.assign(gateway, createFakeGateway());
    }
  });
}

const denials: Readonly<Record<string, { readonly missing: readonly [number, string]; readonly wrong: readonly [number, string] }>> = {
  instance: { missing: [401, 'instance info not found'], wrong: [401, 'Invalid token'] },
  passkeyCode: { missing: [401, 'missing passkey code'], wrong: [401, wrongCodeText] },
  webhook: { missing: [401, 'missing token'], wrong: [401, 'missing token'] },
  stream: { missing: [401, 'Unauthorized'], wrong: [401, 'Unauthorized'] },
  admin: { missing: [401, 'Unauthorized'], wrong: [403, 'Invalid AdminToken Header'] },
  globalWebhook: { missing: [401, 'Unauthorized'], wrong: [403, 'This is a public demo server. This endpoint has been disabled.'] },
};

for (const target of targets.filter(({ spec }) => spec.credential !== 'none')) {
  const { name, method, spec } = target;
  const [url = ''] = target.url.split('?');
  const expected = denials[spec.credential];

  test(`${name}: has the documented errors for a missing and for a wrong token`, async () => {
    assert.ok(expected);
    const inQuery = spec.credential === 'stream';
    const wrong = { headers: { token: 'wrong', admintoken: 'wrong', 'passkey-code': 'wrong' } };
    const replies = [
      await app.inject({ method, url }),
      await app.inject({ method, url, headers: { token: '', admintoken: '' } }),
      await app.inject(inQuery ? { method, url: `${url}?token=wrong` } : { method, url, ...wrong }),
    ];
    const seen = replies.map((reply) => [reply.statusCode, reply.json()]);
    const as = ([status, error]: readonly [number, string]) => [status, { error }];
    assert.deepEqual(seen, [as(expected.missing), as(expected.missing), as(expected.wrong)]);
  });

  test(`${name}: refuses the other kind of token, and tokens in the query unless it is a stream`, async () => {
    const swapped = { token: asAdmin.admintoken, admintoken: asInstance.token };
    isRefused(await app.inject({ method, url, headers: swapped }), 401, 403);
    if (spec.credential === 'stream') return isRefused(await app.inject({ method, url, headers: asInstance }), 401);
    isRefused(await app.inject({ method, url: `${url}?token=${token}&admintoken=${asAdmin.admintoken}` }), 401);
  });

  test(`${name}: is disabled on a demo server if only the administrator may call it`, async () => {
    const reply = await demo.inject({ method, url, headers: asAdmin });
    const off = reply.statusCode === 403 && reply.json().error === 'This is a public demo server. This endpoint has been disabled.';
    assert.equal(off, spec.credential === 'admin' || spec.credential === 'globalWebhook', reply.body);
  });
}

/** Returns a method with a body that no route has at this address. */
const otherMethod = (url: string): Method => {
  const other = (['PUT', 'PATCH', 'DELETE'] as const).find((method) => !targets.some((one) => one.url === url && one.method === method));
  assert.ok(other, url);
  return other;
};

for (const target of targets) {
  test(`${target.name}: an unsupported method gets 405 with the list of supported methods`, async () => {
    const reply = await call({ ...target, method: otherMethod(target.url) }, json('{'));
    isRefused(reply, 405);
    assert.ok(String(reply.headers['allow']).split(', ').includes(target.method));
  });
}
