/** Compares events with golden files: handwritten JSON in which placeholders such as `<id:name>` stand for values that differ from run to run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/source-tree.ts';

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const fits = (pattern: RegExp) => (value: Json) => typeof value === 'string' && pattern.test(value);
const near = (unit: number) => (value: Json) => typeof value === 'number' && Math.abs(value * unit - Date.now()) < 36_000_000;

/** The check for each placeholder. `<id:name>` is the id that the test passes under that name, and `<n items>` is a list of n items. */
const words: Readonly<Record<string, (value: Json) => boolean>> = {
  id: fits(/^[0-9A-F]{20,32}$/),
  'full id': fits(/^5511990000001:[0-9A-F]{20,32}$/),
  'chat id': fits(/^r[0-9a-f]{14}$/),
  ms: near(1),
  seconds: near(1_000),
  iso: fits(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  'spaced date': fits(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/),
  base64: fits(/^[A-Za-z0-9+/]{16,}={0,2}$/),
  url: fits(/^https:\/\/127\.0\.0\.1:\d+\//),
  path: fits(/^\//),
  png: fits(/^data:image\/png;base64,/),
  invite: fits(/^https:\/\/chat\.whatsapp\.com\/[\w-]{16}$/),
  group: fits(/^120363\d{12}@g\.us$/),
  channel: fits(/^120363\d{12}@newsletter$/),
  'server id': (value) => Number.isInteger(value) && Number(value) >= 100,
  lid: fits(/^\d{15}@lid$/),
  person: fits(/^\d+@(?:s\.whatsapp\.net|lid)$/),
  word: fits(/^[a-z]*$/),
  chat: (value) => isObject(value) && Object.keys(value).length === Object.keys(emptyChat).length,
  any: () => true,
};

const standsFor = (word: string, value: Json, ids: Readonly<Record<string, string>>): boolean => {
  const [, name = ''] = /^id:(.*)$/.exec(word) ?? [];
  if (name !== '') return value === ids[name];
  const [, items] = /^(\d+) items$/.exec(word) ?? [];
  if (items !== undefined) return Array.isArray(value) && value.length === Number(items);
  const known = words[word];
  assert.ok(known, `<${word}> stands for nothing`);
  return known(value);
};

/** Replaces values by the placeholders of the expectation that they match. Remaining differences are faults. */
const inWords = (value: Json, expected: Json, ids: Readonly<Record<string, string>>): Json => {
  const [, word] = typeof expected === 'string' ? (/^<([^<>]+)>$/.exec(expected) ?? []) : [];
  if (word !== undefined) return standsFor(word, value, ids) ? expected : value;
  if (Array.isArray(value) && Array.isArray(expected)) return value.map((item, at) => inWords(item, expected[at], ids));
  if (!isObject(value) || !isObject(expected)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, inWords(field, expected[name], ids)]));
};

/** Merges a change into a base. Objects are merged by field, except for `content`, which is replaced. */
const merged = (base: Json, change: Json): Json => {
  if (!isObject(base) || !isObject(change)) return change;
  const fields = Object.entries(change).map(([name, field]) => [name, name === 'content' ? field : merged(base[name], field)]);
  return { ...base, ...Object.fromEntries(fields) };
};

export interface Golden {
  /** Returns a case: the fields of `base`, overridden by its own fields. */
  expected(name: string): JsonObject;
  /** Names of all cases. */
  readonly names: readonly string[];
  /** Compares a case and counts it as covered. `part` compares only the fields of the case itself. */
  check(name: string, actual: Json, ids?: Readonly<Record<string, string>>, part?: 'part'): void;
  /** Fails if a case was never compared. */
  finish(): void;
}

export const readGolden = (file: string): Golden => {
  const all = JSON.parse(readFileSync(join(root, 'test/e2e/golden', `${file}.json`), 'utf8')) as Record<string, JsonObject>;
  const { base = {}, ...cases } = all;
  const names = Object.keys(cases);
  const seen = new Set<string>();
  const expected = (name: string): JsonObject => {
    assert.ok(cases[name], `${file} has no case ${name}`);
    return merged(base, cases[name]) as JsonObject;
  };
  return {
    names,
    expected,
    check(name, actual, ids = {}, part) {
      const wanted = part === undefined ? expected(name) : (cases[name] ?? {});
      const given =
        part === undefined || !isObject(actual) ? actual : Object.fromEntries(Object.keys(wanted).map((key) => [key, actual[key]]));
      assert.deepEqual(inWords(given, wanted, ids), wanted, `${file}: ${name}`);
      seen.add(name);
    },
    finish: () => assert.deepEqual([...seen].toSorted(), names.toSorted(), `${file}: every case was compared`),
  };
};

const emptyChat = readGolden('chats').expected('archived')['chat'] as JsonObject;
