/** Tests the rules for a webhook's secret and headers, as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privateOf } from '#actors/delivery/webhook-config.ts';
import type { WebhookInput } from '#actors/views.ts';
import { signer } from '#src/webhooks/receiver.ts';

const before = { secret: 'whsec_before', headers: { 'X-Old': '1' } };
const ask = (input: Partial<WebhookInput>) => privateOf(before, { action: '', id: '', url: '', ...input }, signer);
const valid = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

const taken: readonly (readonly [string, Partial<WebhookInput>, typeof before | { secret: string; headers: object }])[] = [
  ['an empty request changes nothing', {}, before],
  ['a given secret replaces the stored one', { secret: valid }, { ...before, secret: valid }],
  ['an empty secret removes the stored one', { secret: '' }, { ...before, secret: '' }],
  [
    'given headers replace the stored ones',
    { headers: { Authorization: 'Bearer x' } },
    { ...before, headers: { Authorization: 'Bearer x' } },
  ],
  ['empty headers remove the stored ones', { headers: {} }, { ...before, headers: {} }],
];
for (const [title, input, expected] of taken)
  test(`webhook-secrets: ${title}`, () => assert.deepEqual(ask(input), { ok: true, value: expected }));

test('webhook-secrets: true generates a secret', () => {
  const made = ask({ secret: true });
  assert.ok(made.ok && signer.objection(made.value.secret) === null);
});

const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, '']));
const refused: readonly (readonly [string, Partial<WebhookInput>, RegExp])[] = [
  ['a secret of another form', { secret: 'hunter2' }, /^secret must be/],
  ['too many headers', { headers: many }, /at most 20/],
  ['headers that are too long', { headers: { a: 'x'.repeat(4096) } }, /4096/],
  ['the same header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, /twice/],
  ['a name with a space', { headers: { 'x a': '1' } }, /invalid header name/],
  ['an empty name', { headers: { '': '1' } }, /invalid header name/],
  ['a line break in a value', { headers: { 'x-a': 'a\r\nHost: b' } }, /on one line/],
  ['characters that are not allowed in a header', { headers: { 'x-a': 'é' } }, /printable ASCII/],
  ...['Host', 'content-length', 'Content-Type', 'Transfer-Encoding', 'connection', 'User-Agent', 'webhook-id', 'Webhook-Signature'].map(
    (name): readonly [string, Partial<WebhookInput>, RegExp] => [name, { headers: { [name]: '1' } }, /must not contain/],
  ),
];
for (const [title, input, pattern] of refused)
  test(`webhook-secrets: ${title} is refused, and no value is quoted`, () => {
    const answer = ask(input);
    assert.ok(!answer.ok);
    assert.match(answer.refusal.message, pattern);
    assert.ok(!answer.refusal.message.includes('hunter2'));
  });
