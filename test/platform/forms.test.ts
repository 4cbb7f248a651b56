/** Tests the forms of contents: the one for the library, and the one that is encrypted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { proto } from '@whiskeysockets/baileys';
import { finalForm, givenForm } from '#src/platform/outbound/stanza.ts';

const messageContextInfo = { messageSecret: new Uint8Array(32) };
const video = { mimetype: 'video/mp4' };

const rows: readonly (readonly [title: string, content: proto.IMessage, given: proto.IMessage])[] = [
  ['a round video', { ptvMessage: video, messageContextInfo }, { videoMessage: video, messageContextInfo }],
  [
    'a video to be viewed once',
    { viewOnceMessageV2: { message: { videoMessage: video } }, messageContextInfo },
    { videoMessage: video, messageContextInfo },
  ],
  ['a voice to be heard once', { viewOnceMessageV2Extension: { message: { audioMessage: {} } } }, { audioMessage: {} }],
];

for (const [title, content, given] of rows) {
  test(`forms: ${title} is given as plain media and encrypted as it is, for receivers and own devices`, () => {
    const plain = givenForm(content);
    assert.deepEqual(plain, given);
    assert.equal(finalForm(plain), content);
    const copy = { deviceSentMessage: { destinationJid: 'a', message: plain }, messageContextInfo };
    assert.deepEqual(finalForm(copy), { deviceSentMessage: { destinationJid: 'a', message: content }, messageContextInfo });
  });
}

test('forms: all other contents are passed and encrypted unchanged', () => {
  const text = { conversation: 'hello' };
  assert.equal(givenForm(text), text);
  assert.equal(finalForm(text), text);
  const copy = { deviceSentMessage: { message: text } };
  assert.equal(finalForm(copy), copy);
});
