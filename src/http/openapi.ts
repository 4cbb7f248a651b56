/** The OpenAPI description of a row: parameters, bodies with examples, and every error with its texts. */
import { STATUS_CODES } from 'node:http';
import { type TSchema, Type } from 'typebox';
import { type Reason, reasons } from '#actors/gateway.ts';
import { type BodyLimit, type Credential, credentials, type Method, type RefusalAnswer, type Refusals, type Route } from './route.ts';
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

/** The name of each status in the names of components, and the sentence on it. */
export const errorStatuses: Readonly<Record<number, readonly [name: string, sentence: string]>> = {
  400: ['BadRequest', 'The request is not valid'],
  401: ['Unauthorized', 'The credential is missing or wrong'],
  403: ['Forbidden', 'The account or the caller has no right to make the request'],
  404: ['NotFound', 'An object that the request names does not exist'],
  409: ['Conflict', 'The state of the instance, or of an object that the request names, does not allow the request'],
  413: ['TooLarge', 'The body or the file is too large'],
  415: ['UnsupportedMedia', 'The body or the file has a type that is not supported'],
  416: ['RangeNotSatisfiable', 'The file has no such part'],
  429: ['TooMany', 'A limit is reached'],
  500: ['Failure', 'The gateway failed, or the platform refused the request'],
  501: ['NotSupported', 'The platform or the gateway does not support the request'],
  503: ['Unavailable', 'The storage or a service is not available now. Nothing was done'],
  504: ['TimedOut', 'The platform did not answer in time. The request may have been executed'],
};

const lineOf = ({ status, text }: Pick<ErrorCase, 'status' | 'text'>): string => `${status} \`${text.replaceAll('`', "'")}\``;

const refusalCases = (...names: readonly Reason[]): readonly ErrorCase[] => names.map((name) => refusalTable[name]);

/** Errors that most operations with this credential have. The document has them once, as the default answer. */
const commonErrors = (credential: Credential | null): readonly ErrorCase[] => [
  { status: 400, text: 'the body is not valid JSON' },
  ...(credential === null ? [] : [credential.missing, credential.wrong]),
  { status: 413, text: tooLargeText(usualBodyLimit) },
  { status: 415, text: 'the body must be JSON, with the header Content-Type: application/json' },
  ...refusalCases('limited'),
  { status: 500, text: unexpectedText },
  ...refusalCases('unavailable'),
];

/** Further errors of operations that send requests to the platform. */
const platformErrors: readonly ErrorCase[] = refusalCases('notSent', 'capped', 'refused', 'notSupported', 'unknown');

const defaultAnswer = (title: string, cases: readonly ErrorCase[], schema: TSchema) => {
  const lines = [...new Set(cases.toSorted((a, b) => a.status - b.status).map(lineOf))];
  const example = { error: refusalTable.limited.text };
  return {
    lines: new Set(lines),
    answer: { description: `${title} ${lines.join(', ')}`, content: { 'application/json': { schema, example } } },
  };
};

const ofInstance = commonErrors(credentials.instance);
const defaults = {
  instance: defaultAnswer('The usual errors:', ofInstance, ref(ErrorBody)),
  open: defaultAnswer('The usual errors of requests without a token:', commonErrors(null), ref(ErrorBody)),
  admin: defaultAnswer('The usual errors of requests of the administrator:', commonErrors(credentials.admin), ref(ErrorBody)),
  platform: defaultAnswer('The usual errors of requests to the platform:', [...ofInstance, ...platformErrors], ref(PlatformErrorBody)),
} as const;

const defaultOf = ({ credential, refusals }: Route): keyof typeof defaults => {
  if (refusals?.refused !== undefined) return 'platform';
  return credential === 'admin' || credential === 'instance' ? credential : 'open';
};

const hintHeader = {
  'x-error-hint': { type: 'string', description: 'Which field it is and what is wrong with it, where `error` does not say so' },
};

/** The errors of a row: its answers by status, with the usual ones as `default`, and a text that lists the others. */
const errorsOf = (spec: Route): { readonly answers: Readonly<Record<string, object>>; readonly text: string } => {
  const cases = [...usualErrors(spec), ...refusalErrors(spec.refusals ?? {})];
  const { lines, answer } = defaults[defaultOf(spec)];
  const isUsual = (one: ErrorCase): boolean => one.fields === undefined && lines.has(lineOf(one));
  const special = cases.filter((one) => !isUsual(one)).toSorted((a, b) => a.status - b.status);
  const statuses = [...new Set(special.map(({ status }) => status))];
  const answers = statuses.map((status) => {
    const schema = errorSchema(cases.filter((one) => one.status === status));
    const example = { error: Object.values(refusalTable).find((one) => one.status === status)?.text ?? unexpectedText };
    const description = errorStatuses[status]?.[1] ?? '';
    return [
      status,
      { description, content: { 'application/json': { schema, example } }, ...(status === 400 ? { headers: hintHeader } : {}) },
    ];
  });
  const texts = [...new Set(special.map(lineOf))];
  return {
    answers: { ...Object.fromEntries(answers), default: answer },
    text: texts.length === 0 ? '' : `Further errors: ${texts.join(', ')}`,
  };
};

/** Returns true if a schema is a shared shape with an example of its own, or a list of such shapes. The document does not repeat that example. */
const hasOwnExample = (schema: TSchema, shared: SharedSchemas): boolean => {
  const { $ref, items } = schema as { readonly $ref?: string; readonly items?: TSchema };
  if (items !== undefined) return hasOwnExample(items, shared);
  return $ref !== undefined && 'examples' in (shared.get($ref.replace(/#$/, '')) ?? {});
};

const successResponses = (spec: Route, shared: SharedSchemas): Readonly<Record<number, object>> => {
  const usual = spec.status ?? 200;
  const headers = Object.fromEntries(
    Object.entries(spec.headers ?? {}).map(([name, description]) => [name, { type: 'string', description }]),
  );
  return Object.fromEntries(
    [[usual, spec.answer] as const, ...Object.entries(spec.also ?? {})].map(([status, schema]) => {
      const given = Number(status) === usual ? spec.examples?.answer : undefined;
      const example = given === undefined && hasOwnExample(schema, shared) ? {} : { example: given ?? exampleOf(schema, shared) };
      const content = { [spec.produces ?? 'application/json']: { schema, ...example } };
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
export const documentedSchema = (spec: Route, index: number, shared: SharedSchemas) => {
  const errors = errorsOf(spec);
  return {
    operationId: index === 0 ? spec.operationId : `${spec.operationId}Alias${index}`,
    tags: [spec.tag],
    summary: spec.summary,
    ...(errors.text === '' ? {} : { description: errors.text }),
    security: securityOf(spec),
    ...(index === 0 ? {} : { deprecated: true }),
    ...(spec.params === undefined ? {} : { params: spec.params }),
    ...(spec.query === undefined ? {} : { querystring: spec.query }),
    ...(spec.requestHeaders === undefined ? {} : { headers: spec.requestHeaders }),
    ...(spec.takesBytes === undefined ? {} : { consumes: [spec.takesBytes] }),
    ...bodyOf(spec, shared),
    response: { ...successResponses(spec, shared), ...errors.answers },
  };
};
