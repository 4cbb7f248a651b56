/** Tests the Portuguese texts of refusals: each refusal that the dashboard can cause has a text, and each text belongs to a refusal in the sources. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { invalidInput } from '#src/http/body.ts';
import { tooLargeText } from '#src/http/errors.ts';
import { roleText } from '#src/http/route.ts';
import { refusals } from '#src/web/page/texts/pt-refusals.js';
import { phrases } from '#src/web/page/texts/pt-said.js';
import { translator } from '#src/web/page/texts/said.js';
import { root } from '#test/source-tree.ts';

const said = translator([...phrases, ...refusals]);

/** The sources of the operations that pages of the dashboard call. */
const sources = [
  ...[
    'campaigns',
    'chatbot',
    'chatwoot',
    'connect-limit',
    'connection',
    'instances',
    'passkey',
    'proxies',
    'sends',
    'users',
    'webhooks',
  ].map((name) => `actors/commands/${name}.ts`),
  ...['chatbot/chatbot', 'chatbot/trial', 'cluster/cluster', 'cluster/commands', 'delivery/webhook-config', 'inspection/alerts'].map(
    (name) => `actors/${name}.ts`,
  ),
  ...[
    'commands/host',
    'model/operator',
    'model/result',
    'session/requests',
    'supervisor/cells',
    'supervisor/files',
    'supervisor/waking',
  ].map((name) => `actors/${name}.ts`),
  ...['admin', 'chatbot', 'instance', 'proxy', 'server', 'session', 'users'].map((name) => `src/http/routes/${name}.ts`),
  ...globSync('src/http/routes/sender/*.ts', { cwd: root }),
  'src/moving/sources.ts',
  'src/platform/wire/outcomes.ts',
];

/** Refusals of these sources that no page can cause, or that no page shows. They stay English. */
const english = new Set([
  // Only calls of integrators cause these refusals.
  'id is required',
  'url is required',
  'Invalid action',
  'id must not be sent when a webhook is added',
  'no instance has this address',
  'too many messages of agents wait to be sent',
  'at most {} numbers that are not known can be looked up at once',
  'there are no flows: type is agent or quickreply',
  'from must be one of {}',
]);

const literal = String.raw`('(?:[^'\\\n]|\\.)*'|${'`'}(?:[^${'`'}\\]|\\.)*${'`'})`;

/** Returns the text of a template literal with `{}` in place of each value. */
const formOf = (text: string): string =>
  text
    .slice(1, -1)
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '{}')
    .replaceAll(/\\(.)/g, '$1');

const literalsOf = (files: readonly string[], before: string): readonly string[] => {
  const pattern = new RegExp(before + literal, 'g');
  return files.flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, text = '']) => formOf(text)));
};

const withoutNumbers = (phrase: string): string => phrase.replaceAll(/\{\d\}/g, '{}');
const known = new Set([...phrases, ...refusals].map(([phrase]) => withoutNumbers(phrase)));
/** Sentences that begin with a field have one text for all fields. */
const aboutFields = refusals.filter(([phrase]) => phrase.startsWith('{1} ')).map(([phrase]) => withoutNumbers(phrase.slice('{1} '.length)));
const isAboutField = (form: string): boolean => /^[\w.]+ /.test(form) && aboutFields.includes(form.replace(/^[\w.]+ /, ''));

test('refusals: each refusal that a page can cause has a Portuguese text', () => {
  const found = [...new Set(literalsOf(sources, String.raw`refuse\(\s*'\w+',\s*`))];
  assert.ok(found.length > 80, `${found.length} refusals`);
  assert.deepEqual(
    found.filter((form) => !known.has(form) && !isAboutField(form) && !english.has(form)),
    [],
  );
  assert.deepEqual(
    [...english].filter((form) => !found.includes(form)),
    [],
    'a refusal that stays English is gone',
  );
});

/** Sentences that the sources compose of several literals, each with one of its literals. */
const composed: Readonly<Record<string, string>> = {
  'the body is too large: at most {} bytes (see {})': 'the body is too large: at most ',
  'the body is too large: at most {} bytes': 'the body is too large: at most ',
  'proxy_url must start with {} and name a host': ' and name a host`',
  'url points to an address that is not allowed ({}): see {}': 'an address that is not allowed (',
  'headers has an invalid header name': "'headers has an invalid header name'",
  'there is no agent {}': 'there is no ${name} ${wanted}',
  'there is no quick reply {}': 'there is no ${name} ${wanted}',
};

test('refusals: each Portuguese text belongs to a sentence of the server or of the page', () => {
  const files = globSync(['actors/**/*.ts', 'src/**/*.ts', 'src/web/page/core/api.js'], { cwd: root }).filter(
    (file) => !file.startsWith('src/sandbox/'),
  );
  const all = new Set(literalsOf(files, ''));
  const text = files.map((file) => readFileSync(join(root, file), 'utf8')).join('');
  const isThere = (form: string): boolean =>
    all.has(form) || all.has(`${form}: {}`) || form.startsWith('{} ') || text.includes(composed[form] ?? '\0');
  assert.deepEqual(
    refusals.map(([phrase]) => withoutNumbers(phrase)).filter((form) => !isThere(form)),
    [],
  );
});

test('refusals: no English text has two translations, and each translation keeps the values', () => {
  const values = (text: string): readonly string[] => [...text.matchAll(/\{\d\}/g)].map(([value]) => value).toSorted();
  const own = refusals.map(([phrase]) => phrase);
  assert.equal(new Set(own).size, own.length);
  for (const [phrase, text] of refusals) assert.deepEqual(values(text), values(phrase), phrase);
});

/** Words of English sentences, none of which is a Portuguese word. */
const englishWords = /\b(the|is|must|be|have|has|of|at|most|least|with|and|not|required|empty|bytes of)\b/;

const findings: readonly (readonly [keyword: string, params: Readonly<Record<string, unknown>>])[] = [
  ['required', { missingProperty: 'delayMin' }],
  ...['string', 'integer', 'number', 'boolean', 'array', 'object'].map((type) => ['type', { type }] as const),
  ['enum', { allowedValues: ['a', 'b'] }],
  ['minLength', { limit: 1 }],
  ['minLength', { limit: 3 }],
  ['maxLength', { limit: 3 }],
  ['pattern', { pattern: 'a' }],
  ['contains', {}],
  ['minItems', { limit: 3 }],
  ['maxItems', { limit: 3 }],
  ['minimum', { limit: 3 }],
  ['maximum', { limit: 3 }],
];

test('refusals: each error about a field is translated and keeps the field and its limit', () => {
  for (const [keyword, params] of findings) {
    const finding = { keyword, params, instancePath: keyword === 'required' ? '' : '/delayMin', schemaPath: '' };
    const { error } = invalidInput([finding], 'body');
    const text = said(error);
    assert.doesNotMatch(text, englishWords, error);
    assert.match(text, /^delayMin /, error);
    if (params['limit'] === 3) assert.match(text, /3/, error);
  }
});

test('refusals: sentences with values are translated and keep the values', () => {
  for (const [sentence, text] of [
    [tooLargeText({ bytes: 5, setting: 'BODY_LIMIT' }), 'os dados são grandes demais: no máximo 5 bytes (veja BODY_LIMIT)'],
    [tooLargeText({ bytes: 5 }), 'os dados são grandes demais: no máximo 5 bytes'],
    [roleText('reader', 'operator'), 'o papel reader não permite isto: é preciso o papel operator'],
    ['the number 5511999990001 is not on WhatsApp', 'o número 5511999990001 não está no WhatsApp'],
    ['the proxy does not work: it refuses connections', 'o proxy não funciona: ele recusa conexões'],
    ['Chatwoot could not be reached: connection refused', 'o Chatwoot não pôde ser alcançado: conexão recusada'],
    ['events.0 must be one of a, b', 'events.0 deve ser um destes: a, b'],
  ])
    assert.equal(said(sentence ?? ''), text);
  assert.equal(said('a sentence that is not known'), 'a sentence that is not known');
});
