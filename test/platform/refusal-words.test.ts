/** Tests the texts of refusals for each operation and each code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationName } from '#actors/ports.ts';
import { answered, lostAnswer, noMember, outcomeOfError, refused } from '#src/platform/wire/outcomes.ts';
import { inWords, wishes } from '#src/platform/operations/refusal-words.ts';

const names = Object.keys(wishes) as OperationName[];
const told = (name: OperationName, code: number, text = 'item-not-found'): string => {
  const outcome = outcomeOfError(Object.assign(new Error(text), { data: code, output: { statusCode: 500 } }), true);
  assert.ok(outcome);
  const worded = inWords(name, outcome);
  assert.ok(!worded.ok);
  assert.deepEqual([worded.refusal.reason, worded.refusal.code, worded.refusal.detail], ['refused', code, text]);
  return worded.refusal.message;
};

for (const code of [400, 401, 403, 404, 429, 599])
  test(`refusals: a ${code} names the operation, the reason, the code and the text of the platform`, () => {
    const sentences = names.map((name) => told(name, code));
    for (const [n, sentence] of sentences.entries()) {
      assert.ok(sentence.startsWith(`the platform refused to ${wishes[names[n] as OperationName]}: `), sentence);
      assert.match(sentence, new RegExp(`${code} item-not-found`));
      assert.doesNotMatch(sentence, /info query/);
    }
    assert.equal(new Set(sentences).size, names.length, 'no two operations have the same words');
  });

test('refusals: the text of a code depends on the operation', () => {
  assert.match(told('chat.timer', 403), /only admins of the group/);
  assert.match(told('chat.block', 400), /does not know the person/);
  assert.match(told('call.reject', 404, 'gone'), /the call has ended \(404 gone\)$/);
});

test('refusals: a refused change of a message names the change beside the reason', () => {
  const outcome = inWords('message.edit', refused(403, 'not allowed to write here'));
  assert.equal(!outcome.ok && outcome.refusal.message, 'the platform refused to edit the message: not allowed to write here (403)');
});

test('refusals: answers, other reasons and the text of a handler stay unchanged', () => {
  for (const outcome of [answered(1), lostAnswer, noMember, refused(null, 'no group'), refused(401, 'no right to write here')])
    assert.equal(
      inWords('message.transmit', outcome).ok ? outcome : JSON.stringify(inWords('message.transmit', outcome)),
      outcome.ok ? outcome : JSON.stringify(outcome),
    );
});
