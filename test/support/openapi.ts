/** Reads the OpenAPI document for tests: its operations with resolved references, and its schemas as validators. */
import Schema from 'typebox/schema';
import { exampleOf } from '#src/http/openapi.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

interface Media {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Content = Readonly<Record<string, Media>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  /** The description. It lists the errors of the operation in addition to the common errors. */
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** The default credentials, for operations that name no credentials. */
  readonly security: Operation['security'];
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the component that a reference points to. Returns any other value unchanged. */
const pointed = (value: unknown, document: Document): unknown => {
  const reference = isObject(value) ? value['$ref'] : undefined;
  if (typeof reference !== 'string') return value;
  const found = reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), document);
  if (found === undefined) throw new Error(`${reference} points at nothing`);
  return found;
};

/** Returns the operation with all references except those to schemas resolved, and with its credentials. A single example is given as `example`. */
const whole = (operation: Operation, document: Document): Operation => {
  const media = ({ examples, ...rest }: Media): Media => {
    if (examples === undefined) return rest;
    const filled = Object.fromEntries(Object.entries(examples).map(([name, one]) => [name, pointed(one, document) as { value: unknown }]));
    return 'usual' in filled ? { ...rest, example: filled['usual']?.value } : { ...rest, examples: filled };
  };
  const body = <Part extends { readonly content?: Content }>(value: Part): Part => {
    const part = pointed(value, document) as Part;
    if (part.content === undefined) return part;
    return { ...part, content: Object.fromEntries(Object.entries(part.content).map(([type, one]) => [type, media(one)])) };
  };
  const { parameters, requestBody, responses, security = document.security } = operation;
  return {
    ...operation,
    security,
    ...(parameters === undefined
      ? {}
      : {
          parameters: parameters.map((one) => {
            const parameter = pointed(one, document) as Parameter;
            return { ...parameter, schema: resolved(parameter.schema, document.components.schemas) };
          }),
        }),
    ...(requestBody === undefined ? {} : { requestBody: body(requestBody) }),
    responses: Object.fromEntries(Object.entries(responses).map(([status, one]) => [status, body(one)])),
  };
};

/** Returns the operations by a name such as `POST /send/text`. HEAD beside GET is left out. References to components other than schemas are filled in. */
export const operationsOf = (document: Document): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'head')
        .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, whole(operation, document)] as const),
    ),
  );

type Response = Operation['responses'][string];

/** Returns the answer with this status. The answer `default` stands for the usual errors, which it lists, and for the errors that the operation lists. */
export const answerOf = ({ description = '', responses }: Operation, status: string): Response | undefined => {
  const usual = responses['default'];
  return responses[status] ?? (`${description} ${usual?.description}`.includes(` ${status} \``) ? usual : undefined);
};

/** Returns true if the document says that an operation answers this status with this text. */
export const saysError = ({ description = '', responses }: Operation, status: string, text: string): boolean =>
  `${description} ${responses['default']?.description ?? ''}`.includes(` ${status} \`${text.replaceAll('`', "'")}\``);

export const mediaOf = (content: Content | undefined): Media => Object.values(content ?? {})[0] ?? {};

/** Returns the examples of a body, or else the examples of its schema, or else one example that is built from the fields of the schema. */
export const examplesOf = ({ example, examples, schema }: Media, shared: Readonly<Record<string, JsonSchema>>): readonly unknown[] => {
  if (example !== undefined) return [example];
  if (examples !== undefined) return Object.values(examples).map(({ value }) => value);
  const whole = resolved(schema, shared);
  return (whole['examples'] as readonly unknown[] | undefined) ?? [exampleOf(whole, new Map())];
};

const merged = (parts: readonly JsonSchema[]): JsonSchema => ({
  type: 'object',
  properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})) as unknown,
  required: parts.flatMap(({ required }) => (required ?? []) as readonly string[]),
});

/** Returns the schema with its references resolved and its compositions of objects merged into one object. */
export const resolved = (schema: unknown, shared: Readonly<Record<string, JsonSchema>>): JsonSchema => {
  if (!isObject(schema)) return {};
  if (typeof schema['$ref'] === 'string') return resolved(shared[schema['$ref'].split('/').at(-1) ?? ''], shared);
  if (Array.isArray(schema['allOf'])) {
    const { allOf, ...rest } = schema;
    return { ...rest, ...merged((allOf as readonly unknown[]).map((part) => resolved(part, shared))) };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties' && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, shared)]))];
      if (key === 'items' || (key === 'additionalProperties' && isObject(value))) return [key, resolved(value, shared)];
      if (key === 'anyOf' || key === 'oneOf') return [key, (value as readonly unknown[]).map((one) => resolved(one, shared))];
      return [key, value];
    }),
  );
};

/** Returns a resolved schema that allows no additional fields. */
export const strict = (schema: JsonSchema): JsonSchema => {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties' && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, strict(one as JsonSchema)]))];
      if (key === 'anyOf' || key === 'oneOf') return [key, (value as readonly JsonSchema[]).map(strict)];
      return [key, key === 'items' && isObject(value) ? strict(value) : value];
    }),
  );
  const free = inner['properties'] === undefined || inner['additionalProperties'] !== undefined || inner['patternProperties'] !== undefined;
  return free ? inner : { ...inner, additionalProperties: false };
};

/** Returns the faults of a value, each as a path and a sentence. */
export const objections = (schema: JsonSchema, value: unknown): readonly string[] => {
  const compiled = Schema.Compile(schema as object);
  if (compiled.Check(value)) return [];
  return compiled.Errors(value)[1].map(({ instancePath, message }) => `${instancePath} ${message}`);
};

/** Returns the faults of the body of an event by the schema that the document has for its type. A field that the schema does not name is a fault. */
export const eventObjections = ({ webhooks, components }: Document, body: Readonly<Record<string, unknown>>): readonly string[] => {
  const type = String(body['EventType']);
  const schema = mediaOf(webhooks[type]?.post.requestBody?.content).schema;
  return schema === undefined ? [`the document has no event ${type}`] : objections(strict(resolved(schema, components.schemas)), body);
};

/** Returns the faults of posted events by the document of a running gateway, each once and after its type. */
export const postedObjections = async (address: string, posted: readonly { readonly body: Readonly<Record<string, unknown>> }[]) => {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as Document;
  const wrong = posted.flatMap(({ body }) =>
    eventObjections(document, body).map((objection) => `${String(body['EventType'])}${objection}`),
  );
  return [...new Set(wrong)];
};
