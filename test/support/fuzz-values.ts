/** Generates valid, nearly valid and hostile values for the fields of a request with fast-check. The same seed gives the same values. */
import * as fc from 'fast-check';
import type { JsonSchema } from './openapi.ts';

type Value = fc.Arbitrary<unknown>;

/** Texts that are known to break programs. */
const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '💥'.repeat(50),
  '\u202eabc',
  "' or 1=1; --",
  '${jndi:x}',
  '{{name}}{{lead_email}}',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00%ff%',
  'x'.repeat(5_000),
  '[Section',
  'a|b|c|d|e',
  '-1',
  '1e309',
  '0x10',
  'NaN',
  '5511988887777@s.whatsapp.net',
  '120363000000000001@g.us',
  '1@lid',
  '1@newsletter',
  'status@broadcast',
  '@s.whatsapp.net',
  '5511999999999:99@s.whatsapp.net',
  'data:image/png;base64,AAAA',
  'data:;base64,',
  'http://127.0.0.1:1/',
  'http://[::1',
  'file:///etc/passwd',
  'https://user:pass@host/',
];

const hostile: Value = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e15, 1e300, -0, [], {}, [[]], [null], { a: { b: { c: {} } } }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (schema: JsonSchema): Value => {
  const examples = listOf(schema['examples']);
  const [least, most] = [Number(schema['minLength'] ?? 0), Math.min(60, Number(schema['maxLength'] ?? 60))];
  const any = fc.string({ minLength: Math.min(least, 60), maxLength: Math.max(most, least) });
  const known = fc.constantFrom('5511988880001', '5511988880001@s.whatsapp.net', 'hello', 'https://example.com/', 'br');
  return examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), any) : fc.oneof(known, any);
};

const numberOf = (schema: JsonSchema): Value => {
  const [min, max] = [Number(schema['minimum'] ?? 0), Math.min(Number(schema['maximum'] ?? 1_000), 100_000)];
  return fc.integer({ min: Math.ceil(min), max: Math.max(Math.ceil(min), Math.floor(max)) });
};

const objectOf = (schema: JsonSchema): Value => {
  const fields = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>);
  const required = listOf(schema['required']) as string[];
  const values = Object.fromEntries(fields.map(([name, one]) => [name, valid(one)]));
  return fields.length === 0
    ? fc.constantFrom({}, { a: 1 })
    : fc.record(values, { requiredKeys: required.filter((name) => name in values) });
};

/** Returns a value that nearly always matches a resolved schema. */
export const valid = (schema: JsonSchema): Value => {
  const choices = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
  if (choices !== undefined) return fc.constantFrom(...listOf(choices));
  const alternatives = listOf(schema['anyOf'] ?? schema['oneOf']) as JsonSchema[];
  if (alternatives.length > 0) return fc.oneof(...alternatives.map(valid));
  const types = [schema['type'] ?? 'object'].flat();
  return fc.oneof(
    ...types.map((type) => {
      if (type === 'string') return textOf(schema);
      if (type === 'integer' || type === 'number') return numberOf(schema);
      if (type === 'boolean') return fc.boolean();
      if (type === 'null') return fc.constant(null);
      if (type === 'array') return fc.array(valid((schema['items'] ?? {}) as JsonSchema), { maxLength: 4 });
      return objectOf(schema);
    }),
  );
};

/** Returns a valid object with one field missing or replaced by a hostile value. */
const nearly = (schema: JsonSchema): Value =>
  fc.tuple(valid(schema), fc.nat(), hostile, fc.boolean()).map(([value, at, other, drop]) => {
    if (typeof value !== 'object' || value === null) return other;
    const names = Object.keys((schema['properties'] ?? {}) as object);
    const name = names[at % Math.max(1, names.length)] ?? 'unknown';
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    return drop ? rest : { ...rest, [name]: other };
  });

/** Returns an object with hostile values, or a value that is not an object. */
const foreign = (schema: JsonSchema): Value => {
  const names = Object.keys((schema['properties'] ?? {}) as object);
  return fc.oneof(
    { weight: 3, arbitrary: fc.record(Object.fromEntries(names.map((name) => [name, hostile])), { requiredKeys: [] }) },
    { weight: 1, arbitrary: hostile },
  );
};

export const bodies = (schema: JsonSchema): Value =>
  fc.oneof({ weight: 3, arbitrary: valid(schema) }, { weight: 3, arbitrary: nearly(schema) }, { weight: 2, arbitrary: foreign(schema) });

/** Returns a parameter of an address as text. */
export const parameters = (schema: JsonSchema): fc.Arbitrary<string> =>
  fc.oneof(valid(schema), fc.constantFrom(...hostileTexts)).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
