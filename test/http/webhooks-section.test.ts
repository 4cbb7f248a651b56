/** Tests the events in the OpenAPI document. Each type has a complete example and a schema that allows no other fields and types. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { eventTypes } from '#actors/gateway.ts';
import { buildApp } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { type Document, eventObjections, examplesOf, mediaOf, type Operation } from '#test/support/openapi.ts';
import { optionsWith } from './setup.ts';

let app: FastifyInstance;
let document: Document;

before(async () => {
  app = await buildApp(createFakeGateway(), optionsWith({}));
  document = (await app.inject({ url: '/openapi.json' })).json();
});
after(() => app.close());

const exampleOf = (post: Operation | undefined): unknown => examplesOf(mediaOf(post?.requestBody?.content), document.components.schemas)[0];

test('event types: the document describes one request for each type, and no other', () =>
  assert.deepEqual(Object.keys(document.webhooks).toSorted(), [...eventTypes, 'test'].toSorted()));

test('event types: the example of each type matches its schema', () => {
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const example = exampleOf(post) as Readonly<Record<string, unknown>>;
    assert.equal(example['EventType'], type);
    assert.deepEqual(eventObjections(document, example), [], type);
  }
});

test('event types: an unknown field, a missing field and a field of the wrong type are errors', () => {
  const example = exampleOf(document.webhooks['presence']?.post) as {
    readonly EventType: string;
    readonly event: Readonly<Record<string, unknown>>;
  };
  const { Media: _left, ...rest } = example.event;
  for (const event of [{ ...example.event, More: 1 }, rest, { ...example.event, IsGroup: 'no' }])
    assert.notDeepEqual(eventObjections(document, { ...example, event }), []);
  assert.notDeepEqual(eventObjections(document, { ...example, EventType: 'unheard' }), []);
});

test('event types: each type has its own schema, and the schema WebhookEvent is the union of all', () => {
  const shapes = Object.values(document.webhooks).map(({ post }) => post.requestBody?.content['application/json']?.schema);
  assert.deepEqual(document.components.schemas['WebhookEvent']?.['anyOf'], shapes);
  assert.equal(new Set(shapes.map((shape) => JSON.stringify(shape))).size, shapes.length);
});
