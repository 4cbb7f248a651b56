/** Tests the OpenAPI document of the gateway: valid, complete, and with examples that match its own schemas. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import {
  answerOf,
  type Document,
  examplesOf,
  type JsonSchema,
  mediaOf,
  objections,
  type Operation,
  operationsOf,
  resolved,
} from '#test/support/openapi.ts';
import { optionsWith } from './setup.ts';

let app: FastifyInstance;
let document: Document;
let operations: ReadonlyMap<string, Operation>;

before(async () => {
  app = await buildApp(createFakeGateway(), optionsWith({}));
  document = (await app.inject({ url: '/openapi.json' })).json();
  operations = operationsOf(document);
});
after(() => app.close());

/** Asserts that a list of faults is empty. A failure shows all of them. */
const none = (found: readonly string[]): void => assert.deepEqual(found, []);

test('document: it is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as object as Record<string, unknown>);
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

test('document: it names the version of the API', () =>
  assert.match((document as unknown as { info: { description: string } }).info.description, /version 2\.4\.2 of the interface/));

test('document: every operation has a summary, one tag and an operationId of its own', () => {
  const ids = [...operations.values()].map(({ operationId }) => operationId);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  none([...operations].filter(([, { operationId, summary, tags }]) => !operationId || !summary || tags.length !== 1).map(([name]) => name));
  assert.ok(operations.size > 30, `${operations.size} operations`);
});

test('document: the described tags are exactly the tags of the operations', () => {
  const described = document.tags.map(({ name }) => name);
  assert.deepEqual(described.toSorted(), [...new Set([...operations.values()].flatMap(({ tags }) => tags))].toSorted());
  none(document.tags.filter(({ description }) => !description).map(({ name }) => name));
});

test('document: every body and every answer has an example that matches its schema', () => {
  const { schemas } = document.components;
  none(
    [...operations].flatMap(([name, { requestBody, responses }]) => {
      const contents = [
        ...(requestBody === undefined ? [] : [['body', requestBody.content] as const]),
        ...Object.entries(responses).map(([status, { content }]) => [status, content] as const),
      ];
      return contents.flatMap(([part, content]) => {
        const { schema } = mediaOf(content);
        const given = examplesOf(mediaOf(content), schemas);
        if (given.length === 0 || given.includes(undefined)) return [`${name} ${part} has no example`];
        const whole = resolved(schema, schemas);
        return given.flatMap((one) => objections(whole, one).map((objection) => `${name} ${part}${objection}`));
      });
    }),
  );
});

/** Returns every text in a value, except the field that names the kind of a content, which can be `text`. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, one]) => (name === 'type' ? [] : textsIn(one)))
    : [];
};

test('document: the example of each body works as it is: it has content, needs no catalogue of proxies, and names no field twice', () => {
  none(
    [...operations].flatMap(([name, { requestBody }]) => {
      const { example, examples = {} } = mediaOf(requestBody?.content);
      const all = [example, ...Object.values(examples).map(({ value }) => value)];
      const given = all.filter((one): one is Readonly<Record<string, unknown>> => typeof one === 'object' && one !== null);
      return given.flatMap((body) => [
        ...textsIn(body).flatMap((text) =>
          text === '' || text === 'text' ? [`${name} has no example for a text: ${JSON.stringify(body)}`] : [],
        ),
        ...('proxy_managed_country' in body ? [`${name} wants a managed proxy`] : []),
        ...('jid' in body && 'id' in body && body['jid'] === body['id'] ? [`${name} names its channel twice`] : []),
      ]);
    }),
  );
});

test('document: each operation lists the texts of its own errors', () => {
  none(
    [...operations].flatMap(([name, { description = '', responses }]) => {
      const listed = [...description.matchAll(/ (\d{3}) `[^`]+`/g)].map(([, status = '']) => status);
      const own = Object.keys(responses).filter((status) => Number(status) >= 400);
      const missing = [...own.filter((status) => !listed.includes(status)), ...(responses['default'] === undefined ? ['default'] : [])];
      return missing.map((status) => `${name} ${status}`);
    }),
  );
});

test('document: every operation names its errors with their bodies', () => {
  none(
    [...operations].flatMap(([name, operation]) => {
      const { security, requestBody } = operation;
      // A body of bytes is accepted with any content type.
      const ofBody = requestBody?.content['application/octet-stream'] === undefined ? [400, 413, 415] : [400, 413];
      const wanted = [500, ...(security.length === 0 ? [] : [401, 429, 503]), ...(name.startsWith('GET') ? [] : ofBody)];
      return wanted
        .filter((status) => mediaOf(answerOf(operation, String(status))?.content).schema === undefined)
        .map((status) => `${name} ${status}`);
    }),
  );
});

/** Returns the names of fields without a description, at any depth. */
const undescribed = (properties: JsonSchema, at: string): readonly string[] =>
  Object.entries(properties).flatMap(([name, value]) => {
    const field = value as JsonSchema;
    const inner = (field['items'] as JsonSchema | undefined) ?? field;
    return [...(field['description'] ? [] : [`${at}${name}`]), ...undescribed((inner['properties'] ?? {}) as JsonSchema, `${at}${name}.`)];
  });

test('document: every field of a request has a description', () => {
  const { schemas } = document.components;
  none(
    [...operations].flatMap(([name, { requestBody, parameters = [] }]) => {
      const body = mediaOf(requestBody?.content).schema;
      const properties = (body === undefined ? {} : (resolved(body, schemas)['properties'] ?? {})) as JsonSchema;
      return [...parameters.flatMap((one) => (one.description ? [] : [`${name} ?${one.name}`])), ...undescribed(properties, `${name} `)];
    }),
  );
});

test('document: shared schemas are defined once', () => {
  const names = Object.keys(document.components.schemas);
  for (const name of ['Chat', 'Delivery', 'Error', 'Instance', 'Message', 'PlatformError', 'Webhook'])
    assert.ok(names.includes(name), name);
  const answer = mediaOf(operations.get('POST /message/find')?.responses['200']?.content).schema as { properties: Record<string, unknown> };
  assert.deepEqual(answer.properties['messages'], { type: 'array', items: { $ref: '#/components/schemas/Message' } });
});

test('document: fields that are sometimes absent are optional', () => {
  const { schemas } = document.components;
  const shapeOf = (name: string) => resolved(schemas[name], schemas);
  const requiredOf = (name: string) => (shapeOf(name)['required'] ?? []) as readonly string[];
  for (const [name, field] of [
    ['Instance', 'fieldsMap'],
    ['Chat', 'parent_community'],
    ['Webhook', 'secret'],
    ['Delivery', 'status_code'],
    ['PlatformError', 'provider_code'],
  ] as const) {
    assert.ok(field in ((shapeOf(name)['properties'] ?? {}) as object), `${name}.${field}`);
    assert.ok(!requiredOf(name).includes(field), `${name}.${field} is required`);
  }
});

test('document: an optional body is not required', () => {
  assert.notEqual(operations.get('POST /chat/find')?.requestBody?.required, true);
  assert.equal(operations.get('POST /send/text')?.requestBody?.required, true);
});

test('document: an older name of a route is marked as deprecated', () => {
  const alias = operations.get('POST /instance/init') as (Operation & { readonly deprecated?: boolean }) | undefined;
  assert.deepEqual([alias?.deprecated, alias?.operationId], [true, 'createInstanceAlias1']);
});

test('document: it is built once, and served compressed and with an ETag', async () => {
  const plain = await app.inject({ url: '/openapi.json' });
  assert.deepEqual(plain.json().servers, [{ url: '/' }], 'the address follows the request');
  const packed = await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': 'gzip, br' } });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(packed.rawPayload).toString(), plain.payload);
  assert.ok(packed.rawPayload.length * 5 < plain.rawPayload.length, `${packed.rawPayload.length} bytes`);
  const known = await app.inject({ url: '/openapi.json', headers: { 'if-none-match': String(plain.headers['etag']) } });
  assert.deepEqual([known.statusCode, known.rawPayload.length], [304, 0]);
  assert.equal((await app.inject({ url: '/docs/json' })).headers['etag'], plain.headers['etag']);
  // The smallest of several measurements counts, because other threads and garbage collections also use time.
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = process.threadCpuUsage();
    for (let n = 0; n < 20; n += 1) await app.inject({ url: '/openapi.json', headers: { 'accept-encoding': 'gzip' } });
    rounds.push(process.threadCpuUsage(before).user / 20_000);
  }
  const each = Math.min(...rounds);
  assert.ok(each < 5, `${each.toFixed(1)} ms of processor time each`);
});

test('document: each operation with a credential refuses a request without one before anything else', async () => {
  let asked = 0;
  for (const [name, operation] of operations) {
    const { security = [] } = operation as { security?: readonly object[] };
    if (security.length === 0) continue;
    const [method = 'GET', path = ''] = name.split(' ');
    const reply = await app.inject({ method: method as 'GET', url: path.replaceAll(/\{\w+\}/g, 'x') });
    assert.ok([401, 403].includes(reply.statusCode), `${name}: ${reply.statusCode}`);
    asked += 1;
  }
  assert.ok(asked > 100, `${asked} operations`);
  assert.ok(operations.size - asked < 20, `${operations.size - asked} operations without a credential`);
});

test('page of the document: it comes from this server, with a policy against inline scripts, compressed and with an ETag', async () => {
  const gzip = { 'accept-encoding': 'gzip' };
  assert.deepEqual((await app.inject({ url: '/docs' })).headers['location'], 'docs/');
  const page = await app.inject({ url: '/docs/' });
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  // The page must work over plain HTTP too. With `upgrade-insecure-requests` browsers would load its scripts over HTTPS.
  assert.doesNotMatch(policy, /upgrade-insecure-requests|unsafe-eval|https?:/);
  const files = [...page.payload.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = '']) => name).filter((name) => name !== 'data:,');
  assert.deepEqual(files, ['reference.css', 'scalar.js', 'reference.js']);
  for (const name of files) {
    const packed = await app.inject({ url: `/docs/${name}`, headers: gzip });
    assert.deepEqual([packed.statusCode, packed.headers['content-encoding']], [200, 'gzip'], name);
    const plain = await app.inject({ url: `/docs/${name}` });
    assert.ok(gunzipSync(packed.rawPayload).equals(plain.rawPayload), name);
    const known = await app.inject({ url: `/docs/${name}`, headers: { 'if-none-match': String(packed.headers['etag']) } });
    assert.equal(known.statusCode, 304, name);
  }
});
