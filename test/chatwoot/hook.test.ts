/** Tests the parser of Chatwoot's webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHook } from '#src/chatwoot/api.ts';

const body = {
  event: 'message_created',
  id: 9,
  account: { id: 3 },
  inbox: { id: 5 },
  conversation: { id: 7 },
  content: 'hello',
  message_type: 'outgoing',
};

test('readHook: a message of an agent is for the contact, with or without the field private', () => {
  for (const one of [body, { ...body, private: false }])
    assert.partialDeepStrictEqual(readHook(one), { kind: 'message', id: 9, accountId: 3, inboxId: 5, conversationId: 7, text: 'hello' });
});

for (const note of [true, 'true', 1, 'false', 0, null, {}, []])
  test(`readHook: a message whose private is ${JSON.stringify(note)} stays between agents`, () =>
    assert.equal(readHook({ ...body, private: note }), null));

test('readHook: a text is cut at 65,536 characters, between two characters', () => {
  const news = readHook({ ...body, content: `a${'🐁'.repeat(40_000)}` });
  const text = news?.kind === 'message' ? news.text : '';
  assert.ok([65_535, 65_536].includes(text.length), `${text.length} characters`);
  assert.ok(text.isWellFormed());
});
