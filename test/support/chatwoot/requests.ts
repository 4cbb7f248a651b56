/** Checks requests against the OpenAPI document of Chatwoot. The facts of that document are in `requests.json`. */
import { readFileSync } from 'node:fs';
import { type JsonSchema, objections } from '#test/support/openapi.ts';

interface RequestFacts {
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly json?: JsonSchema;
  readonly form?: JsonSchema;
}

const facts = JSON.parse(readFileSync(new URL('./requests.json', import.meta.url), 'utf8')) as {
  readonly beyond: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly requests: Readonly<Record<string, RequestFacts>>;
};

const beyond = Object.values(facts.beyond);

/** A received request. A form has the names of its files, and the values of its other fields. */
export interface Came {
  readonly method: string;
  /** The path after the account. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly kind: 'none' | 'json' | 'form';
  readonly body: unknown;
}

const patterns = Object.entries(facts.requests).map(([name, of]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, of, method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, String.raw`\d+`)}$`) };
});

/** Returns the schema without additional fields, except for known undocumented fields. */
const closed = (name: string, schema: JsonSchema): JsonSchema => {
  const also = beyond.flatMap((list) => list[name] ?? []).map((field) => [field, { type: 'string' }] as const);
  return { ...schema, properties: { ...(schema['properties'] as object), ...Object.fromEntries(also) }, additionalProperties: false };
};

/** Returns a sentence for each fault of a request. */
export const wrongWith = ({ method, path, query, kind, body }: Came): readonly string[] => {
  const known = patterns.find((one) => one.method === method && one.pattern.test(path));
  if (!known) return [`${method} ${path} stands in no document`];
  const { name, of } = known;
  const strange = [...query.keys()].filter((key) => !(key in (of.query ?? {})));
  const parameters = strange.map((key) => `${name} has no parameter ${key}`);
  if (kind === 'none') return of.json ? [...parameters, `${name} has no body`] : parameters;
  const schema = of[kind];
  if (schema === undefined) return [...parameters, `${name} takes no ${kind}`];
  return [...parameters, ...objections(closed(name, schema), body).map((text) => `${name} ${text}`)];
};
