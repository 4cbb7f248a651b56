/** One readable sentence on the first thing that validation found wrong. */
import type { FastifySchemaValidationError } from 'fastify';

/**
 * Fixed texts of a route, most exact first: `<field>:<keyword>`, `<field>`, `*`. The field of a missing one is its own name.
 */
export type InvalidTexts = Readonly<Record<string, string>>;

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const typesOf = (type: unknown): string =>
  String(type)
    .split(',')
    .map((word) => typeWords[word] ?? word)
    .join(' or ');

/** The demand of each keyword, in words. */
const demands: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => string>> = {
  required: () => 'is required',
  type: ({ type }) => `must be ${typesOf(type)}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as readonly unknown[]).filter((value) => value !== '').join(', ')}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  // The only pattern whose text is not fixed by its row: something that can be seen.
  pattern: ({ pattern }) => (pattern === String.raw`\S` ? 'must not be empty' : 'is not valid'),
  contains: () => 'must have at least one entry that is valid',
  minItems: ({ limit }) => `must have at least ${String(limit)} entries`,
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
};

/** Such as `/events/0` → `events.0`; a missing field is named by itself. */
const fieldOf = ({ keyword, instancePath, params }: FastifySchemaValidationError): string => {
  const path = instancePath.slice(1).replaceAll('/', '.');
  if (keyword !== 'required') return path;
  return `${path === '' ? '' : `${path}.`}${String(params['missingProperty'])}`;
};

/** The answer to invalid input. `hint`: the field and its error, where the text of the route does not name them. */
export interface InvalidInput {
  readonly error: string;
  readonly hint?: string;
}

export const invalidInput = (findings: readonly FastifySchemaValidationError[], part: string, fixed: InvalidTexts = {}): InvalidInput => {
  const finding = findings[0];
  if (finding === undefined) return { error: fixed['*'] ?? `the ${part} is not valid` };
  const { keyword, params } = finding;
  const field = fieldOf(finding);
  const sentence = `${field === '' ? `the ${part}` : field} ${demands[keyword]?.(params) ?? finding.message ?? 'is not valid'}`;
  const text = fixed[`${field}:${keyword}`] ?? fixed[field] ?? fixed['*'];
  if (text === undefined) return { error: sentence };
  return text.toLowerCase().startsWith(`${field.toLowerCase()} `) ? { error: text } : { error: text, hint: sentence };
};
