/** Tests the files of sends. A file is fetched before the send is accepted, not fetched for a send that is refused anyway, and stored as a reference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileUrlOf, hasFilesToTake, withFilesTaken } from '#actors/attachments.ts';
import { done, refuse, type GivenFile, type MediaContent } from '#actors/model.ts';
import { attachmentOf } from '#test/fakes/attachments.ts';

const given: GivenFile = { source: 'UERG', as: 'document', thumbnail: '', mimetype: 'application/pdf', filename: 'a.pdf' };
const media: MediaContent = { kind: 'media', as: 'document', file: given, caption: 'read', viewOnce: false };

test('attachments: the file of a content is fetched once and replaced by a reference to the stored file', async () => {
  assert.equal(hasFilesToTake(media), true);
  const taken = await withFilesTaken(media, async (file) => done(attachmentOf(file)));
  assert.ok(taken.ok);
  assert.deepEqual(taken.value, { ...media, file: attachmentOf(given) });
  assert.equal(hasFilesToTake(taken.value), false);
  assert.equal(fileUrlOf(taken.value), attachmentOf(given).url);
  const again = await withFilesTaken(taken.value, () => assert.fail('nothing is left to take'));
  assert.deepEqual(again, taken);
});

test('attachments: a refused file refuses the send', async () => {
  assert.deepEqual(await withFilesTaken(media, async () => refuse('tooLarge', 'too large')), refuse('tooLarge', 'too large'));
});

test('attachments: contents without a file have no attachment', async () => {
  const text = { kind: 'text', text: 'hello', preview: null } as const;
  assert.equal(hasFilesToTake(text), false);
  assert.equal(fileUrlOf(text), '');
  assert.deepEqual(await withFilesTaken(text, () => assert.fail('there is none')), done(text));
});
