/** Tests the languages of the dashboard: complete tables, equal placeholders, and a translation of each shown sentence of the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeTexts } from '#actors/policy/close-cause.ts';
import { chartDescriptions, eventDescriptions } from '#actors/session/chart-descriptions.ts';
import { whyText } from '#src/contract/inspector.ts';
import { nameOf } from '#src/web/page/chart/words.js';
import { en } from '#src/web/page/texts/en.js';
import { stateWords } from '#src/web/page/texts/en-said.js';
import { phrases } from '#src/web/page/texts/pt-said.js';
import { pt } from '#src/web/page/texts/pt.js';
import { withLabels } from '#src/web/page/texts/field-labels.js';
import { filler } from '#src/web/page/texts/fill.js';
import { translator } from '#src/web/page/texts/said.js';
import { origins, type StepCause } from '#actors/views/inspector.ts';

const english: Readonly<Record<string, string>> = en;
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = { pt };
const said = translator(phrases);

const valuesOf = (text = ''): readonly string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).toSorted();

for (const [language, table] of Object.entries(tables)) {
  test(`languages: ${language} has a translation of every text, and no unused text`, () => {
    assert.deepEqual(Object.keys(table).toSorted(), Object.keys(english).toSorted());
  });

  test(`languages: each text of ${language} uses the same values as the English text`, () => {
    for (const [name, text] of Object.entries(english)) assert.deepEqual(valuesOf(table[name]), valuesOf(text), name);
  });

  test(`languages: no text of ${language} is still in English`, () => {
    const same = Object.entries(english).filter(
      ([name, text]) =>
        table[name] === text &&
        text
          .replaceAll(/\{\w+\}/g, '')
          .trim()
          .includes(' '),
    );
    // Names of products and of their parts are not translated.
    const names = new Set(['titleOf', 'clientVersion', 'versionClient']);
    assert.deepEqual(
      same.filter(([name]) => !names.has(name) && !name.startsWith('from_')).map(([name]) => name),
      [],
    );
  });
}

/** Matches a number before a plural word, such as `{n} chats`. Units such as `s` and `ms` have no plural form. */
const barePlural = /\{(?:n|of|all|total|attempts|owned|left|days|cap)\} (?:\p{L}+ )?\p{L}{2,}s\b/u;
/** Texts with a number before a word that has no plural form, or that the number does not count. */
const uncounted = new Set(['campaignPreviewMore', 'bulkHidden', 'drainLeft']);

for (const [language, table] of Object.entries({ en: english, ...tables }))
  test(`languages: each number before a word in ${language} selects the singular or the plural`, () => {
    const faults = Object.entries(table).filter(([name, text]) => barePlural.test(text) && !uncounted.has(name));
    assert.deepEqual(faults, []);
    const counted = (text = ''): readonly string[] => [...text.matchAll(/\{(\w+)[|}]/g)].map(([, value = '']) => value);
    for (const [name, text] of Object.entries(table))
      assert.deepEqual(
        counted(text).filter((value) => !counted(english[name]).includes(value)),
        [],
        name,
      );
  });

test('languages: a refusal names fields by their labels in the page', () => {
  const shown = (sentence: string): string => withLabels(sentence, (name) => english[name] ?? '');
  assert.equal(
    shown('msg_delay_min must not be greater than msg_delay_max'),
    `“${en.paceLeast}” must not be greater than “${en.paceMost}”`,
  );
  assert.equal(shown('email.host is required, timeZone too.'), `“${en.alertHost}” is required, “${en.alertZone}” too.`);
  assert.equal(
    shown('apikey is required for another provider or baseUrl'),
    `“${en.agentKey}” is required for another provider or “${en.agentBase}”`,
  );
  // Names of fields inside addresses and longer words are not replaced, and neither are plain words.
  for (const sentence of ['https://a.example/proxy_url failed', 'my_proxy_url is wrong', 'name must not be empty'])
    assert.equal(shown(sentence), sentence);
});

test('languages: a number selects the singular or the plural by the rules of the language', () => {
  const [en, pt] = [filler('en'), filler('pt-BR')];
  const chats = (fill: typeof en, n: string | number): string => fill('{n} {n|chat|chats}', { n });
  assert.deepEqual(
    [0, 1, 2, '1', '1,001', '1.5', '21'].map((n) => chats(en, n)),
    ['0 chats', '1 chat', '2 chats', '1 chat', '1,001 chats', '1.5 chats', '21 chats'],
  );
  // Portuguese uses the singular for 0, and writes a thousand as 1.000.
  assert.deepEqual(
    ['0', '1', '2', '1.000'].map((n) => chats(pt, n)),
    ['0 chat', '1 chat', '2 chats', '1.000 chats'],
  );
  assert.equal(en('{name} of {n}', { name: '{n|a|b}', n: 1 }), '{n|a|b} of 1');
});

test('languages: every reason for a closed connection has a translation', () => {
  for (const text of closeTexts.keys()) assert.notEqual(said(text), text, text);
});

test('languages: every state has a translated name and description', () => {
  for (const { states } of Object.values(chartDescriptions))
    for (const [state, description] of Object.entries(states)) {
      assert.notEqual(said(description), description, state);
      assert.ok(
        phrases.some(([phrase]) => phrase === nameOf(state)),
        `the name of ${state}`,
      );
    }
});

test('languages: each English name of a state belongs to a state of a state chart', () => {
  const names = new Set(Object.values(chartDescriptions).flatMap(({ states }) => Object.keys(states).map(nameOf)));
  assert.deepEqual(
    stateWords.map(([name]) => name).filter((name) => !names.has(name)),
    [],
  );
});

const causes = (event: string): readonly StepCause[] => {
  if (event === 'platform.closed')
    return [{ kind: 'close', code: 503, cause: 'connectionLost', reaction: 'backOff', sentence: '503: connection lost', retryInMs: 1_000 }];
  if (event.startsWith('instance.')) return origins.map((by) => ({ kind: 'command', by }));
  return event === 'failed.lifecycle' || event === 'link.surprised' ? [{ kind: 'crash', error: 'TypeError' }] : [{ kind: 'platform' }];
};

/** Events that a session never receives. They belong to deliveries and operations, or occur only in the drawn charts. */
const notSteps = new Set(['operation.ended', 'delivery.added', 'delivery.changed', 'delivery.trimmed']);

test('languages: the cause of every step has a translation without English words', () => {
  for (const event of Object.keys(eventDescriptions)) {
    if (notSteps.has(event)) continue;
    for (const cause of causes(event)) {
      const sentence = whyText({ event, cause });
      assert.notEqual(said(sentence), sentence, sentence);
      assert.doesNotMatch(said(sentence), /\b(the|session|platform|asked|client|administrator)\b/i, sentence);
    }
  }
});

const sentences: readonly [string, string, string][] = [
  ['a sentence after a code', '401: logged out from another device', '401: desvinculada por outro aparelho'],
  ['a sentence before its details', 'the proxy failed: ECONNREFUSED', 'o proxy falhou: ECONNREFUSED'],
  ['a sentence with values', 'the receiver a.example fails: no answer in time', 'o receptor a.example falha: sem resposta a tempo'],
  ['a sentence about a campaign', 'the daily cap of 1000 messages is reached', 'o limite diário de 1000 mensagens foi alcançado'],
  ['a sentence that joins two others', 'running, 2 crashes', 'em execução, 2 falhas'],
  ['no unknown sentence', 'something new (42)', 'something new (42)'],
];

for (const [title, sentence, expected] of sentences)
  test(`languages: the page translates ${title}`, () => {
    assert.equal(said(sentence), expected);
  });
