/** Shortens an OpenAPI document. Repeated parts become named components, to which each place refers. Pure, and called once per document. */
import { errorNames, freeName, placeNames } from './component-names.ts';

type Json = Readonly<Record<string, unknown>>;

const sections = ['schemas', 'responses', 'parameters', 'requestBodies', 'examples', 'headers'] as const;
type Section = (typeof sections)[number];

/** A part of the document: the section of components that it may move to, and its place in words, such as `sendText body number`. */
interface Part {
  readonly section: Section;
  readonly value: Json;
  readonly place: string;
}

type Replace = (part: Part) => Json;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const mapped = (value: unknown, change: (one: Json, key: string) => Json): Json =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([key, one]) => [key, isObject(one) ? change(one, key) : one]));

/** Replaces the schemas inside a schema. Examples and enumerations are data and stay as they are. */
const insideSchema = (schema: Json, place: string, replace: Replace): Json => {
  const inner = (value: Json, name: string) => replace({ section: 'schemas', value, place: `${place} ${name}` });
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'properties') return [key, mapped(value, inner)];
      if ((key === 'items' || key === 'additionalProperties') && isObject(value)) return [key, inner(value, 'item')];
      if (Array.isArray(value) && ['allOf', 'anyOf', 'oneOf'].includes(key)) {
        return [key, value.map((one: Json, index) => inner(one, key === 'allOf' ? `part${index + 1}` : 'value'))];
      }
      return [key, value];
    }),
  );
};

/**
 * Replaces the schema and the example of a media type. A single example moves to `examples`, because `examples` may refer to a component and `example` may not.
 * Another reason is that `openapi-typescript` copies each `example` into comments.
 */
const insideMedia = ({ schema, example, examples, ...rest }: Json, place: string, replace: Replace): Json => ({
  ...rest,
  ...(isObject(schema) ? { schema: replace({ section: 'schemas', value: schema, place }) } : {}),
  ...(example === undefined ? {} : { examples: { usual: replace({ section: 'examples', value: { value: example }, place }) } }),
  ...(examples === undefined ? {} : { examples }),
});

/** Replaces the direct children of a part. */
const inside = ({ section, value, place }: Part, replace: Replace): Json => {
  if (section === 'examples' || section === 'headers') return value;
  if (section === 'schemas') return insideSchema(value, place, replace);
  if (section === 'parameters') return mapped(value, (schema) => replace({ section: 'schemas', value: schema, place }));
  const { content, headers } = value;
  return {
    ...value,
    ...(content === undefined ? {} : { content: mapped(content, (media) => insideMedia(media, place, replace)) }),
    ...(headers === undefined
      ? {}
      : { headers: mapped(headers, (header, name) => replace({ section: 'headers', value: header, place: `${place} ${name}` })) }),
  };
};

const insideOperation = (operation: Json, replace: Replace): Json => {
  const id = String(operation['operationId']);
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(Array.isArray(parameters)
      ? { parameters: parameters.map((value: Json) => replace({ section: 'parameters', value, place: `${id} ${String(value['name'])}` })) }
      : {}),
    ...(isObject(requestBody) ? { requestBody: replace({ section: 'requestBodies', value: requestBody, place: `${id} body` }) } : {}),
    responses: mapped(responses, (value, status) =>
      replace({ section: 'responses', value, place: Number(status) < 400 ? `${id} answer` : `${id} ${status}` }),
    ),
  };
};

const keyOf = ({ section, value }: Part): string => `${section} ${JSON.stringify(value)}`;

/** The approximate length of a reference, in characters. A schema becomes a component only if references make the document shorter. */
const referenceLength = 50;

const isError = ({ section, place }: Part): boolean => section === 'responses' && /(?:\d|default)$/.test(place);

const isWorthNaming = (part: Part, times: number): boolean => {
  if (isError(part)) return true;
  if (times < 2 || '$ref' in part.value) return false;
  return part.section !== 'schemas' || (times - 1) * (JSON.stringify(part.value).length - referenceLength) > referenceLength;
};

/** Counts the occurrences of each distinct part. Searches only the first of several equal parts for inner parts. */
const counted = (all: (replace: Replace) => unknown): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  const count = (part: Part): Json => {
    const key = keyOf(part);
    times.set(key, (times.get(key) ?? 0) + 1);
    if (times.get(key) === 1) inside(part, count);
    return part.value;
  };
  all(count);
  return times;
};

/** The sections of a document that contain operations. */
const operationSections = ['paths', 'webhooks'] as const;

const insideDocument = (document: Json, replace: Replace): Json =>
  Object.fromEntries(
    operationSections
      .filter((name) => document[name] !== undefined)
      .map((name) => [name, mapped(document[name], (methods) => mapped(methods, (operation) => insideOperation(operation, replace)))]),
  );

/** Returns the same document with its repeated parts as components. Errors are always components. Schemas with a name keep their name. */
export const withComponents = (document: Json): Json => {
  const given = isObject(document['components']) ? document['components'] : {};
  const schemas = Object.entries(isObject(given['schemas']) ? given['schemas'] : {}) as readonly (readonly [string, Json])[];
  const named = schemas.map(([place, value]): Part => ({ section: 'schemas', value, place }));
  const times = counted((count) => [named.map(count), insideDocument(document, count)]);
  const names = new Map(named.map((part) => [keyOf(part), part.place]));
  const made = Object.fromEntries(sections.map((section) => [section, {} as Record<string, Json>])) as Record<
    Section,
    Record<string, Json>
  >;
  const taken = new Set(named.map(({ place }) => `schemas ${place}`));
  const newName = (part: Part): string => {
    const name = freeName(isError(part) ? errorNames(part.place, part.value) : placeNames(part.place), (one) =>
      taken.has(`${part.section} ${one}`),
    );
    taken.add(`${part.section} ${name}`);
    return name;
  };
  const replace = (part: Part): Json => {
    const key = keyOf(part);
    if (!names.has(key)) {
      if (!isWorthNaming(part, times.get(key) ?? 0)) return inside(part, replace);
      names.set(key, newName(part));
    }
    const name = names.get(key) ?? '';
    const section = made[part.section];
    // An empty entry reserves the position before the inner parts are replaced. Components are therefore in the order of their first place.
    if (!(name in section)) {
      section[name] = {};
      section[name] = inside({ ...part, place: part.section === 'schemas' ? name : part.place }, replace);
    }
    return { $ref: `#/components/${part.section}/${name}` };
  };
  named.forEach(replace);
  const shortenedSections = insideDocument(document, replace);
  return {
    ...document,
    ...shortenedSections,
    components: { ...given, ...Object.fromEntries(Object.entries(made).filter(([, section]) => Object.keys(section).length > 0)) },
  };
};
