/** The document that the interface gives of itself: valid, whole, and with examples that its own schemas allow. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { type Document, mediaOf, objections, type Operation, operationsOf, resolved } from '#test/support/openapi.ts';
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

/** One list of everything that is wrong, so that a failure names all of it. */
const none = (found: readonly string[]): void => assert.deepEqual(found, []);

test('document: is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as object as Record<string, unknown>);
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

test('document: every operation has a summary, one tag and an operationId of its own', () => {
  const ids = [...operations.values()].map(({ operationId }) => operationId);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  none([...operations].filter(([, { operationId, summary, tags }]) => !operationId || !summary || tags.length !== 1).map(([name]) => name));
  assert.ok(operations.size > 30, `${operations.size} operations`);
});

test('document: every body and every answer has an example, which its schema allows', () => {
  const { schemas } = document.components;
  none(
    [...operations].flatMap(([name, { requestBody, responses }]) => {
      const contents = [
        ...(requestBody === undefined ? [] : [['body', requestBody.content] as const]),
        ...Object.entries(responses).map(([status, { content }]) => [status, content] as const),
      ];
      return contents.flatMap(([part, content]) => {
        const { schema, example, examples } = mediaOf(content);
        const given = examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
        if (given.length === 0 || given.includes(undefined)) return [`${name} ${part} has no example`];
        const whole = resolved(schema, schemas);
        return given.flatMap((one) => objections(whole, one).map((objection) => `${name} ${part}${objection}`));
      });
    }),
  );
});

test('document: every operation names its errors with their bodies', () => {
  none(
    [...operations].flatMap(([name, { security, responses }]) => {
      const wanted = [500, ...(security.length === 0 ? [] : [401, 429, 503]), ...(name.startsWith('GET') ? [] : [400, 413, 415])];
      return wanted.filter((status) => mediaOf(responses[status]?.content).schema === undefined).map((status) => `${name} ${status}`);
    }),
  );
});

test('document: shared shapes are named once', () => {
  const names = Object.keys(document.components.schemas);
  for (const name of ['Chat', 'Delivery', 'Error', 'Instance', 'Message', 'PlatformError', 'Webhook'])
    assert.ok(names.includes(name), name);
  const answer = mediaOf(operations.get('POST /message/find')?.responses['200']?.content).schema as { properties: Record<string, unknown> };
  assert.deepEqual(answer.properties['messages'], { type: 'array', items: { $ref: '#/components/schemas/Message' } });
});

test('document: fields that are there only sometimes are optional', () => {
  const { schemas } = document.components;
  const requiredOf = (name: string) => (schemas[name]?.['required'] ?? []) as readonly string[];
  for (const [name, field] of [
    ['Instance', 'fieldsMap'],
    ['Chat', 'parent_community'],
    ['Webhook', 'secret'],
    ['Delivery', 'status_code'],
    ['PlatformError', 'provider_code'],
  ] as const) {
    assert.ok(field in ((schemas[name]?.['properties'] ?? {}) as object), `${name}.${field}`);
    assert.ok(!requiredOf(name).includes(field), `${name}.${field} is required`);
  }
});

test('document: a body that may be left out is not required', () => {
  assert.equal(operations.get('POST /chat/find')?.requestBody?.required, false);
  assert.equal(operations.get('POST /send/text')?.requestBody?.required, true);
});

test('document: an older name of a route is marked as such', () => {
  const alias = operations.get('POST /instance/init') as (Operation & { readonly deprecated?: boolean }) | undefined;
  assert.deepEqual([alias?.deprecated, alias?.operationId], [true, 'createInstanceAlias1']);
});
