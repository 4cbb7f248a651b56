/** Examples for the documents, made of the schemas: what a schema gives as its own example, else the plainest value that fits. */
import type { TSchema } from 'typebox';

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
