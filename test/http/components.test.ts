/** Tests the components of the OpenAPI document. Repeated parts are defined once, and no part gets lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '#src/http/app.ts';
import { namesByPlace } from '#src/http/component-names.ts';
import { withComponents } from '#src/http/components.ts';
import { familyErrors } from '#src/http/error-docs.ts';
import { groupPlaces, withFieldGroups } from '#src/http/field-groups.ts';
import { AdminSessions } from '#src/http/dashboard.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import { allRoutes } from '#src/http/routes/index.ts';
import { Hub } from '#src/http/stream/hub.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { optionsWith } from './setup.ts';

type Json = Readonly<Record<string, unknown>>;

let app: FastifyInstance;
let text: string;
let document: { readonly components: Readonly<Record<string, Json>>; readonly paths: Json };

before(async () => {
  app = await buildApp(createFakeGateway(), optionsWith({}));
  text = (await app.inject({ url: '/openapi.json' })).payload;
  document = JSON.parse(text);
});
after(() => app.close());

/** Returns the value with its references replaced by the referenced components. */
const inlined = (value: unknown, whole: Json): unknown => {
  if (Array.isArray(value)) return value.map((one) => inlined(one, whole));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { readonly $ref?: string };
  if ($ref === undefined) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(one, whole)]));
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((part, key) => (part as Json | undefined)?.[key], whole);
  assert.ok(target, $ref);
  return inlined(target, whole);
};

/** The largest size of the document. In bytes of JSON. */
const mostBytes = 384_500;

test('components: the document is smaller than its size limit', () =>
  assert.ok(Buffer.byteLength(text) <= mostBytes, `${Buffer.byteLength(text)} bytes`));

test('components: replacing all references restores the document without components', () => {
  const plain = { paths: inlined(document.paths, document) } as Json;
  const short = withComponents(plain);
  assert.ok(JSON.stringify(short).length * 2 < JSON.stringify(plain).length);
  assert.deepEqual(inlined(short['paths'], short), plain['paths']);
});

test('components: every error answer is a reference, and no two components are equal', () => {
  const written = Object.values(document.paths as Readonly<Record<string, Record<string, { responses: Record<string, Json> }>>>)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.entries(responses).filter(([status, response]) => !(Number(status) < 400) && !response['$ref']));
  assert.deepEqual(written, []);
  for (const section of ['responses', 'parameters', 'requestBodies', 'examples', 'headers']) {
    const all = Object.values(document.components[section] ?? {}).map((one) => JSON.stringify(one));
    assert.equal(new Set(all).size, all.length, section);
  }
});

test('components: each name of the table is used, and no name ends in a digit', () => {
  const names = new Set(Object.values(document.components).flatMap((section) => Object.keys(section)));
  assert.deepEqual(
    Object.values(namesByPlace).filter((name) => !names.has(name)),
    [],
  );
  assert.deepEqual(
    [...names].filter((name) => /\d$/.test(name)),
    [],
  );
});

test('components: booleans and schemas that occur once stay inline', () => {
  const body = { type: 'object', properties: { once: { type: 'string', description: 'x'.repeat(200) }, flag: { type: 'boolean' } } };
  const content = (schema: object) => ({ content: { 'application/json': { schema } } });
  const shared = { type: 'object', properties: { name: { type: 'string', description: 'y'.repeat(200) }, flag: { type: 'boolean' } } };
  const operation = (operationId: string, answer: object) => ({
    operationId,
    responses: { 200: { description: operationId, ...content(answer) } },
  });
  const short = withComponents({
    paths: { '/a': { get: operation('a', body), put: operation('b', shared) }, '/b': { get: operation('c', shared) } },
  });
  assert.deepEqual(short['components'], { schemas: { BAnswer: shared } });
});

test('components: each group of fields is a schema that at least two objects refer to', () => {
  for (const name of Object.keys(groupPlaces)) {
    assert.ok(document.components['schemas']?.[name], name);
    assert.ok(text.split(`"#/components/schemas/${name}"`).length > 2, name);
  }
});

test('components: an object with the fields of a group refers to it, and one that lacks a field or requires another one does not', () => {
  const options = { delay: { type: 'integer' } };
  const shared = { number: { type: 'string' }, ...options };
  const bodyOf = (properties: Json, required: readonly string[] = ['number']) => ({ type: 'object', required, properties });
  const operation = (operationId: string, schema: object) => ({
    post: { operationId, requestBody: { content: { 'application/json': { schema } } } },
  });
  const grouped = withFieldGroups({
    paths: {
      '/text': operation('sendText', bodyOf({ ...shared, text: { type: 'string' } }, ['number', 'text'])),
      '/media': operation('sendMedia', bodyOf({ ...shared, file: { type: 'string' } })),
      '/same': operation('same', { type: 'array', items: { type: 'object', properties: options } }),
      '/required': operation('required', bodyOf(shared, ['delay'])),
      '/lacks': operation('lacks', bodyOf({ number: { type: 'string' } })),
    },
  }) as { readonly paths: Readonly<Record<string, { readonly post: { readonly requestBody: { readonly content: Json } } }>> };
  const schemaOf = (path: string): unknown =>
    (grouped.paths[path]?.post.requestBody.content['application/json'] as Json | undefined)?.['schema'];
  const reference = { $ref: '#/components/schemas/SendOptions' };
  assert.deepEqual(schemaOf('/text'), {
    allOf: [bodyOf({ number: shared.number, text: { type: 'string' } }, ['number', 'text']), reference],
  });
  assert.deepEqual(schemaOf('/media'), { allOf: [bodyOf({ number: shared.number, file: { type: 'string' } }), reference] });
  assert.deepEqual(schemaOf('/same'), { type: 'array', items: { allOf: [reference] } });
  assert.deepEqual(schemaOf('/required'), bodyOf(shared, ['delay']));
  assert.deepEqual(schemaOf('/lacks'), bodyOf({ number: { type: 'string' } }));
});

test('components: an object refers to its groups in the order of its fields, and uses the limits of a group if it names none', () => {
  const options = { delay: { type: 'integer', minimum: 0 } };
  const preview = { linkPreview: { type: 'boolean' }, linkPreviewTitle: { type: 'string', maxLength: 9 } };
  const loose = { linkPreview: { type: 'boolean' }, linkPreviewTitle: { type: 'string' } };
  const text = { text: { type: 'string' } };
  const body = (properties: Json) => ({ type: 'object', properties });
  const operation = (operationId: string, schema: object) => ({
    post: { operationId, requestBody: { content: { 'application/json': { schema } } } },
  });
  const campaign = body({ ...text, ...loose });
  const grouped = withFieldGroups({
    paths: {
      '/text': operation('sendText', body({ ...text, ...preview, ...options })),
      '/media': operation('sendMedia', body({ file: { type: 'string' }, ...options })),
      '/simple': operation('sendSimpleCampaign', body({ ...campaign.properties, numbers: { type: 'array' } })),
      '/advanced': operation('sendAdvancedCampaign', body({ messages: { type: 'array', items: campaign } })),
      '/other': operation('other', body(loose)),
    },
  });
  const { schemas } = grouped['components'] as { readonly schemas: Json };
  const [previewPart, optionsPart] = ['LinkPreview', 'SendOptions'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  assert.deepEqual(schemas, {
    SendOptions: body(options),
    CampaignContent: { allOf: [body(text), previewPart] },
    LinkPreview: body(preview),
  });
  const written = JSON.stringify(grouped['paths']);
  assert.ok(written.includes(JSON.stringify({ allOf: [body(text), previewPart, optionsPart] })));
  assert.ok(written.includes(JSON.stringify(body(loose))), 'bounds that no row declares are not added');
});

test('components: each common error of a tag is an error of at least four of its operations', () => {
  const options = optionsWith({});
  const hub = new Hub({ gateway: createFakeGateway(), limits: defaultStreamLimits, log: options.log });
  const rows = allRoutes(options, hub, new AdminSessions(60_000, null));
  hub.close();
  for (const [tag, errors] of Object.entries(familyErrors)) {
    const said = rows.filter((row) => row.tag === tag).map(({ refusals, invalidTexts }) => JSON.stringify([refusals, invalidTexts]));
    for (const { text: error } of errors) assert.ok(said.filter((one) => one.includes(error)).length >= 4, `${tag}: ${error}`);
  }
});
