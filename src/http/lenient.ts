/** Numbers and booleans that clients of dynamic languages send as texts (`"12"`, `"true"`), read as what the schema wants. */
import type { TSchema } from 'typebox';

/** Answers with the value to use instead: the same one when there is nothing to read. Changes objects and lists in place. */
export type Reader = (value: unknown) => unknown;

/** The part of JSON Schema that the schemas of routes use. */
interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly allOf?: readonly Shape[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };
const whole = /^-?\d{1,15}$/;
const decimal = /^-?\d{1,15}(?:\.\d{1,15})?$/;

const alternativesOf = ({ anyOf, oneOf }: Shape): readonly Shape[] => anyOf ?? oneOf ?? [];

/** Every JSON type that fits somewhere in a schema; null when any type does. */
const typesOf = (shape: Shape): ReadonlySet<string> | null => {
  if (shape.type !== undefined) return new Set([shape.type].flat());
  const members = shape.enum ?? (shape.const === undefined ? undefined : [shape.const]);
  if (members !== undefined) return new Set(members.map((member) => typeof member));
  if (shape.properties !== undefined || shape.patternProperties !== undefined) return new Set(['object']);
  const parts = [...alternativesOf(shape), ...(shape.allOf ?? [])].map(typesOf);
  if (parts.length === 0 || parts.includes(null)) return null;
  return new Set(parts.flatMap((part) => [...(part ?? [])]));
};

/** Returns the reader of a scalar. Where a text is allowed, a text stays a text. */
const scalarReader = (shape: Shape): Reader | null => {
  const types = typesOf(shape);
  if (types === null || types.has('string')) return null;
  const [numbers, booleans] = [types.has('number') ? decimal : types.has('integer') ? whole : null, types.has('boolean')];
  if (numbers === null && !booleans) return null;
  return (value) => {
    if (typeof value === 'string') {
      const text = value.trim();
      if (numbers?.test(text)) return Number(text);
      return booleans ? (flags[text.toLowerCase()] ?? value) : value;
    }
    return booleans && numbers === null && (value === 0 || value === 1) ? value === 1 : value;
  };
};

const chained = (readers: readonly (Reader | null)[]): Reader | null => {
  const real = readers.filter((reader) => reader !== null);
  if (real.length < 2) return real[0] ?? null;
  return (value) => real.reduce((read, reader) => reader(read), value);
};

const objectReader = ({ properties = {}, patternProperties = {} }: Shape): Reader | null => {
  const named = Object.entries(properties).flatMap(([name, shape]) => {
    const reader = readerFor(shape);
    return reader === null ? [] : [[name, reader] as const];
  });
  const rest = chained(Object.values(patternProperties).map(readerFor));
  if (named.length === 0 && rest === null) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const object = value as Record<string, unknown>;
    for (const [name, reader] of named) if (object[name] !== undefined) object[name] = reader(object[name]);
    if (rest !== null) for (const name of Object.keys(object)) if (!(name in properties)) object[name] = rest(object[name]);
    return object;
  };
};

const listReader = ({ items }: Shape): Reader | null => {
  const reader = items === undefined ? null : readerFor(items);
  return reader === null ? null : (value) => (Array.isArray(value) ? value.map(reader) : value);
};

/** Returns the reader of alternatives. It chooses between a list and an object, or a scalar and either, and never between two shapes of one object. */
const alternativesReader = (shape: Shape): Reader | null => {
  const alternatives = alternativesOf(shape);
  const objects = alternatives.filter((one) => typesOf(one)?.has('object') ?? true);
  const lists = alternatives.filter((one) => typesOf(one)?.has('array') ?? true);
  return chained(
    [objects.length === 1 ? objects[0] : null, lists.length === 1 ? lists[0] : null].map((one) => (one ? readerFor(one) : null)),
  );
};

/** Made once for a schema; null when nothing in it is a number or a boolean. */
const readerFor = (shape: Shape): Reader | null =>
  chained([
    scalarReader(shape),
    objectReader(shape),
    listReader(shape),
    alternativesReader(shape),
    ...(shape.allOf ?? []).map((part) => readerFor(part)),
  ]);

export const lenientReader = (schema: TSchema | undefined): Reader | null => (schema === undefined ? null : readerFor(schema as Shape));

/** A list that clients write as one text: its entries without spaces around them, without empty ones. */
export const commaList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
