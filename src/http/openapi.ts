/** The OpenAPI description of a row: parameters, bodies with examples, and every error with its texts. */
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { credentials, type Route } from './route.ts';
import { errorsOf } from './error-docs.ts';

// Examples for the documents, made from schemas. The example of a schema takes precedence. Without an example the simplest valid value is used.

/** The shapes to which documents refer by their `$id`. */
export type SharedSchemas = ReadonlyMap<string, TSchema>;

interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly allOf?: readonly Shape[];
  readonly anyOf?: readonly Shape[];
  readonly minimum?: number;
  readonly minLength?: number;
  readonly format?: string;
}

/** Makes the example of an object. An optional field is left out unless its schema has examples. */
const objectExample = ({ properties = {}, required = [] }: Shape, shared: SharedSchemas): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name, { examples }]) => required.includes(name) || examples !== undefined)
      .map(([name, shape]) => [name, shapeExample(shape, shared)]),
  );

const plainExamples: Readonly<Record<string, (shape: Shape, shared: SharedSchemas) => unknown>> = {
  string: ({ minLength = 0, format }) => (format === 'date-time' ? '2026-08-19T17:36:34.345Z' : 'text'.repeat(Math.ceil(minLength / 4))),
  integer: ({ minimum = 0 }) => Math.max(0, minimum),
  number: ({ minimum = 0 }) => Math.max(0, minimum),
  boolean: () => true,
  null: () => null,
  array: ({ items }, shared) => (items === undefined ? [] : [shapeExample(items, shared)]),
  object: objectExample,
};

const shapeExample = (shape: Shape, shared: SharedSchemas): unknown => {
  const { $ref, type, examples, enum: members, allOf, anyOf } = shape;
  if (examples?.length) return examples[0];
  if (shape.const !== undefined) return shape.const;
  if (shape.default !== undefined) return shape.default;
  if (members?.length) return members[0];
  if ($ref !== undefined) return shapeExample((shared.get($ref.replace(/#$/, '')) ?? {}) as Shape, shared);
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => shapeExample(part, shared)));
  if (anyOf?.[0] !== undefined) return shapeExample(anyOf[0], shared);
  return plainExamples[[type].flat()[0] ?? '']?.(shape, shared) ?? {};
};

export const exampleOf = (schema: TSchema, shared: SharedSchemas): unknown => shapeExample(schema as Shape, shared);

/**
 * Makes the successful answers of an operation. An answer has an example only if the row contains one. For every other answer, the viewer of the document makes
 * an example from the schema.
 */
const successResponses = (spec: Route): Readonly<Record<number, object>> => {
  const usual = spec.status ?? 200;
  const headers = Object.fromEntries(
    Object.entries(spec.headers ?? {}).map(([name, description]) => [name, { type: 'string', description }]),
  );
  return Object.fromEntries(
    [[usual, spec.answer] as const, ...Object.entries(spec.also ?? {})].map(([status, schema]) => {
      const example = Number(status) === usual ? spec.examples?.answer : undefined;
      const content = { [spec.produces ?? 'application/json']: { schema, ...(example === undefined ? {} : { example }) } };
      const description = Number(status) === 200 ? '' : STATUS_CODES[status];
      return [status, { description, content, ...(spec.headers === undefined ? {} : { headers }) }];
    }),
  );
};

/** The default credential in the document, which applies to each operation that names none. */
export const usualSecurity = [{ token: [] }];

const securityOf = ({ credential }: Route) => {
  const wanted = credentials[credential];
  if (wanted?.name === 'token' && wanted.where === 'header') return {};
  return { security: wanted === null ? [] : [{ [wanted.where === 'query' ? 'stream' : wanted.name]: [] }] };
};

/** Returns the schema without the examples of its fields. The example of the whole body already contains these values. */
const withoutExamples = (schema: Shape): Shape => {
  const { examples: _shown, properties, items, ...rest } = schema;
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, withoutExamples(one)])) }),
    ...(items === undefined ? {} : { items: withoutExamples(items) }),
  };
};

const bodyOf = ({ body, examples, takesBytes }: Route, shared: SharedSchemas) => {
  if (body === undefined) return {};
  if (takesBytes !== undefined) return { body };
  return { body: { ...withoutExamples(body as Shape), examples: [examples?.body ?? exampleOf(body, shared)] } };
};

/** Makes the schema that validates the input of a route and describes the route in the documents. Aliases of a row are marked as deprecated. */
export const documentedSchema = (spec: Route, index: number, shared: SharedSchemas) => {
  const errors = errorsOf(spec);
  const description = [spec.answerText, errors.text].filter((text) => text).join('. ');
  return {
    operationId: index === 0 ? spec.operationId : `${spec.operationId}Alias${index}`,
    tags: [spec.tag],
    summary: spec.summary,
    ...(description === '' ? {} : { description }),
    ...securityOf(spec),
    ...(index === 0 ? {} : { deprecated: true }),
    ...(spec.params === undefined ? {} : { params: spec.params }),
    ...(spec.query === undefined ? {} : { querystring: spec.query }),
    ...(spec.requestHeaders === undefined ? {} : { headers: spec.requestHeaders }),
    ...(spec.takesBytes === undefined ? {} : { consumes: [spec.takesBytes] }),
    ...bodyOf(spec, shared),
    response: { ...successResponses(spec), ...errors.answers },
  };
};
