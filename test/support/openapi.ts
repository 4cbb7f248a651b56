/** Reads the OpenAPI document as tests need it: its operations one by one, its schemas as validators. */
import Schema from 'typebox/schema';

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
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** Operations by a key such as `POST /send/text`. HEAD operations beside GET are left out. */
export const operationsOf = ({ paths }: Document): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'head')
        .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );

export const mediaOf = (content: Content | undefined): Media => Object.values(content ?? {})[0] ?? {};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const merged = (parts: readonly JsonSchema[]): JsonSchema => ({
  type: 'object',
  properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})) as unknown,
  required: parts.flatMap(({ required }) => (required ?? []) as readonly string[]),
});

/** The same schema with its references filled in and its compositions of objects made one object. */
export const resolved = (schema: unknown, shared: Readonly<Record<string, JsonSchema>>): JsonSchema => {
  if (!isObject(schema)) return {};
  if (typeof schema['$ref'] === 'string') return resolved(shared[schema['$ref'].split('/').at(-1) ?? ''], shared);
  if (Array.isArray(schema['allOf'])) return merged(schema['allOf'].map((part) => resolved(part, shared)));
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

/** A resolved schema that allows no field which it does not name. */
export const strict = (schema: JsonSchema): JsonSchema => {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties' && isObject(value))
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, strict(one as JsonSchema)]))];
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
