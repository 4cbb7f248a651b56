/** Tests posts of channels in the format of the API, and the forms in which requests name a channel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelIdOf, durationText, postView } from '#src/contract/views.ts';

for (const [written, id] of [
  ['120363123456789012@newsletter', '120363123456789012@newsletter'],
  [' 120363123456789012 ', '120363123456789012@newsletter'],
  ['1@newsletter', ''],
  ['120363123456789012@g.us', ''],
  ['', ''],
] as const)
  test(`channel: ${JSON.stringify(written)} is ${id === '' ? 'none' : id}`, () => assert.equal(channelIdOf(written), id));

for (const [seconds, text] of [
  [0, '0s'],
  [45, '45s'],
  [300, '5m0s'],
  [3725, '1h2m5s'],
] as const)
  test(`duration: ${seconds} seconds are ${text}`, () => assert.equal(durationText(seconds), text));

test('post: fields that the platform left out are absent or empty', () => {
  const counts = { serverId: 100, messageId: '', type: '', at: 0, views: null, reactions: null, content: null };
  assert.deepEqual(postView(counts), { serverid: 100, messageid: '', type: '', viewsCount: 0, reactionCounts: {} });
  const whole = { ...counts, messageId: 'A', type: 'media', at: 1_000, views: 3, content: { imageMessage: { url: 'https://a.example' } } };
  assert.deepEqual(postView(whole), {
    serverid: 100,
    messageid: 'A',
    type: 'media',
    timestamp: '1970-01-01T00:00:01.000Z',
    viewsCount: 3,
    reactionCounts: {},
    message: { imageMessage: { URL: 'https://a.example' } },
  });
});
