/** The OpenAPI description of a row: parameters, bodies with examples, and every error with its texts. */
import { STATUS_CODES } from 'node:http';
import { type TSchema, Type } from 'typebox';
import { type Reason, reasons } from '#actors/gateway.ts';
import { type BodyLimit, credentials, type Method, type RefusalAnswer, type Refusals, type Route } from './route.ts';
import { refusalTable, tooLargeText, unexpectedText } from './errors.ts';
import { ref } from './schemas/common.ts';
import { ErrorBody, PlatformErrorBody } from './schemas/errors.ts';

// Examples for the documents, made of the schemas: what a schema gives as its own example, else the plainest value that fits.

/** The shapes that documents name once, by their `$id`. */
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

/** Optional fields show only when they have something to show. */
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

/** One way in which an error comes about. */
interface ErrorCase {
  readonly status: number;
  readonly text: string;
  readonly reason?: Reason;
  readonly fields?: RefusalAnswer['fields'];
}

/** In the examples: the default of the setting. */
export const usualBodyLimit: BodyLimit = { bytes: 1_048_576, setting: 'BODY_LIMIT' };

const methodOf = ({ on }: Route): Method => on[0].split(' ')[0] as Method;

const denialsOf = ({ credential }: Route): readonly ErrorCase[] => {
  const wanted = credentials[credential];
  return wanted === null ? [] : [wanted.missing, wanted.wrong];
};

/** Errors that may occur before `run` is called, and errors that may occur in any route. */
const usualErrors = (spec: Route): readonly ErrorCase[] => {
  const takes = spec.params ?? spec.query ?? spec.body;
  const hasBody = methodOf(spec) !== 'GET' && spec.takesBytes === undefined;
  return [
    ...denialsOf(spec),
    ...(spec.credential === 'none' ? [] : [{ status: 429, text: refusalTable.limited.text }]),
    ...(takes || hasBody ? [{ status: 400, text: Object.values(spec.invalidTexts ?? {})[0] ?? 'the body is not valid JSON' }] : []),
    ...(hasBody ? [{ status: 413, text: tooLargeText(spec.bodyLimit ?? usualBodyLimit) }] : []),
    ...(hasBody ? [{ status: 415, text: 'the body must be JSON, with the header Content-Type: application/json' }] : []),
    {
      status: 500,
      text: spec.failure?.text ?? unexpectedText,
      ...(spec.failure?.fields === undefined ? {} : { fields: spec.failure.fields }),
    },
    ...(spec.credential === 'none' ? [] : [{ status: 503, text: refusalTable.unavailable.text }]),
  ];
};

const refusalErrors = (refusals: Refusals): readonly ErrorCase[] =>
  reasons.flatMap((reason) => {
    const special = refusals[reason];
    if (special === undefined) return [];
    const usual = refusalTable[reason];
    const [status, text] = [special.status ?? usual.status, special.text ?? special.example ?? usual.text];
    return [{ status, text, reason, ...(special.fields === undefined ? {} : { fields: special.fields }) }];
  });

/** Fields beside `error` are there only for some causes of a status, so they are optional. */
const errorSchema = (cases: readonly ErrorCase[]): TSchema => {
  const body = cases.some(({ reason }) => reason === 'refused') ? ref(PlatformErrorBody) : ref(ErrorBody);
  const fields = Object.assign({}, ...cases.map((one) => one.fields ?? {})) as Record<string, TSchema>;
  if (Object.keys(fields).length === 0) return body;
  return Type.Intersect([
    body,
    Type.Object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]))),
  ]);
};

const hintHeader = {
  'x-error-hint': { type: 'string', description: 'Which field it is and what is wrong with it, where `error` does not say so' },
};

const errorResponses = (spec: Route): Readonly<Record<number, object>> => {
  const cases = [...usualErrors(spec), ...refusalErrors(spec.refusals ?? {})];
  const statuses = [...new Set(cases.map(({ status }) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = cases.filter((one) => one.status === status);
      const texts = [...new Set(own.map(({ text }) => text))];
      const examples = Object.fromEntries(texts.map((text, index) => [`case${index + 1}`, { value: { error: text } }]));
      const hint = status === 400 && spec.invalidTexts !== undefined ? { headers: hintHeader } : {};
      return [status, { description: texts.join('; '), content: { 'application/json': { schema: errorSchema(own), examples } }, ...hint }];
    }),
  );
};

const successResponses = (spec: Route, shared: SharedSchemas): Readonly<Record<number, object>> => {
  const usual = spec.status ?? 200;
  const headers = Object.fromEntries(
    Object.entries(spec.headers ?? {}).map(([name, description]) => [name, { type: 'string', description }]),
  );
  return Object.fromEntries(
    [[usual, spec.answer] as const, ...Object.entries(spec.also ?? {})].map(([status, schema]) => {
      const given = Number(status) === usual ? spec.examples?.answer : undefined;
      const content = { [spec.produces ?? 'application/json']: { schema, example: given ?? exampleOf(schema, shared) } };
      return [status, { description: STATUS_CODES[status] ?? '', content, ...(spec.headers === undefined ? {} : { headers }) }];
    }),
  );
};

const securityOf = ({ credential }: Route) => {
  const wanted = credentials[credential];
  return wanted === null ? [] : [{ [wanted.where === 'query' ? 'stream' : wanted.name]: [] }];
};

const bodyOf = ({ body, examples, takesBytes }: Route, shared: SharedSchemas) => {
  if (body === undefined) return {};
  return { body: takesBytes === undefined ? { ...body, examples: [examples?.body ?? exampleOf(body, shared)] } : body };
};

/** The schema of a route for the server, which checks input by it, and for the documents. Further names of a row are marked as deprecated. */
export const documentedSchema = (spec: Route, index: number, shared: SharedSchemas) => ({
  operationId: index === 0 ? spec.operationId : `${spec.operationId}Alias${index}`,
  tags: [spec.tag],
  summary: spec.summary,
  security: securityOf(spec),
  ...(index === 0 ? {} : { deprecated: true }),
  ...(spec.params === undefined ? {} : { params: spec.params }),
  ...(spec.query === undefined ? {} : { querystring: spec.query }),
  ...(spec.requestHeaders === undefined ? {} : { headers: spec.requestHeaders }),
  ...(spec.takesBytes === undefined ? {} : { consumes: [spec.takesBytes] }),
  ...bodyOf(spec, shared),
  response: { ...successResponses(spec, shared), ...errorResponses(spec) },
});
