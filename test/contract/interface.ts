/** Reads `interface.json`: the facts of the public interface, the operations that are not built, and the intended deviations. */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '#test/support/openapi.ts';

/**
 * `string`, `integer|null`, `=one|two` (one of these texts), `@Message` (a shared shape), `[shape]` (a list), `{ "field!": shape }` (an object, `!`: required),
 * `{ "&": [shapes] }` (all of them together), `{ "|": [shapes] }` (one of them).
 */
export type Shape = string | readonly [Shape] | { readonly [field: string]: Shape | readonly Shape[] };

export interface OperationFacts {
  /** `token`, `admintoken` or `none`. */
  readonly auth: string;
  readonly path?: Readonly<Record<string, Shape>>;
  readonly query?: Readonly<Record<string, Shape>>;
  readonly body?: Shape;
  /** Shapes of answers by status. */
  readonly answers?: Readonly<Record<string, Shape>>;
  /** Text of `error` by status, '' when the interface fixes none. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Fields beside `error`, by status. */
  readonly errorFields?: Readonly<Record<string, Shape>>;
}

interface InterfaceFile {
  readonly version: string;
  readonly schemas: Readonly<Record<string, Shape>>;
  readonly operations: Readonly<Record<string, OperationFacts>>;
  /** Operations by the reason why they are not built. */
  readonly notBuilt: Readonly<Record<string, readonly string[]>>;
  /** Operations that the gateway has beyond these, by the reason. */
  readonly beyond: Readonly<Record<string, readonly string[]>>;
  /** Accepted findings of the suite by reason, as `<operation> <finding>`. A `*` matches any text. */
  readonly deviations: Readonly<Record<string, readonly string[]>>;
}

export const file = JSON.parse(readFileSync(new URL('./interface.json', import.meta.url), 'utf8')) as InterfaceFile;

export const notBuilt: ReadonlySet<string> = new Set(Object.values(file.notBuilt).flat());

export const beyond: ReadonlySet<string> = new Set(Object.values(file.beyond).flat());

export const built = Object.entries(file.operations).filter(([name]) => !notBuilt.has(name));

/** Returns a pattern in which a star matches any text. */
const patternOf = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[.+?^$()|[\]{}\\]/g, String.raw`\$&`).replaceAll('*', '.*')}$`);

const deviations = Object.values(file.deviations)
  .flat()
  .map((text) => ({ text, pattern: patternOf(text) }));

const used = new Set<string>();

/** Returns the findings that the file does not list. */
export const unexplained = (operation: string, findings: readonly string[]): readonly string[] =>
  findings.filter((finding) => {
    const known = deviations.filter(({ pattern }) => pattern.test(`${operation} ${finding}`));
    for (const { text } of known) used.add(text);
    return known.length === 0;
  });

/** Returns the listed deviations that no test found. They have to be removed from the list. */
export const stale = (): readonly string[] => deviations.map(({ text }) => text).filter((text) => !used.has(text));

const fieldsOf = (shape: Shape): readonly (readonly [name: string, required: boolean, shape: Shape])[] =>
  Object.entries(shape).map(([name, one]) => [name.replace(/!$/, ''), name.endsWith('!'), one as Shape] as const);

/** Returns the schema of a choice. Members that are digits are numbers. */
const oneOf = (members: readonly string[]): JsonSchema =>
  members.every((member) => /^\d+$/.test(member)) ? { type: 'integer', enum: members.map(Number) } : { type: 'string', enum: members };

/** Returns the shape as JSON Schema, with its references resolved. Unknown fields are allowed. */
export const schemaOf = (shape: Shape): JsonSchema => {
  if (typeof shape === 'string') {
    if (shape.startsWith('@')) return schemaOf(file.schemas[shape.slice(1)] ?? 'any');
    if (shape.startsWith('=')) return oneOf(shape.slice(1).split('|'));
    return shape === 'any' ? {} : { type: shape.includes('|') ? shape.split('|') : shape };
  }
  if (Array.isArray(shape)) return { type: 'array', items: schemaOf((shape as readonly [Shape])[0]) };
  const { '&': all, '|': anyOf } = shape as Readonly<Record<string, readonly Shape[]>>;
  if (anyOf !== undefined) return { anyOf: anyOf.map(schemaOf) };
  if (all !== undefined) {
    const parts = all.map(schemaOf);
    return { type: 'object', properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as unknown };
  }
  const fields = fieldsOf(shape);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, , one]) => [name, schemaOf(one)])),
    required: fields.filter(([, required]) => required).map(([name]) => name),
  };
};
