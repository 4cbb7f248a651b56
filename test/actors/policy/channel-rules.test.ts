/** Tests the rules for posts in a channel. A refused post causes no download, no write and no send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaKind, Send, SendContent } from '#actors/model.ts';
import { channelProblem } from '#actors/policy/content-rules.ts';

const channel = '120363000000000001@newsletter';
const text: SendContent = { kind: 'text', text: 'News', preview: null };
const send = (content: SendContent, change: Partial<Send> = {}): Send => ({
  number: channel,
  content,
  replyTo: '',
  mentions: [],
  forward: false,
  ...change,
});
const file = { source: 'https://a.example/f', as: 'image', thumbnail: '', mimetype: '', filename: '' } as const;
const media = (as: MediaKind, viewOnce = false): SendContent => ({ kind: 'media', as, file: { ...file, as }, caption: '', viewOnce });

const rows: readonly (readonly [title: string, send: Send, problem: RegExp | null])[] = [
  ['a text', send(text), null],
  ['a text that was forwarded', send(text, { forward: true }), null],
  ['a poll', send({ kind: 'poll', question: 'Which?', options: ['a', 'b'], selectable: 1 }), null],
  ...(['image', 'video', 'videoplay', 'audio', 'ptt', 'myaudio', 'document', 'sticker'] as const).map(
    (as) => [as, send(media(as)), null] as const,
  ),
  ['a round video', send(media('ptv')), /^channels take texts, polls and media/],
  ['a picture to be viewed once', send(media('image', true)), /^viewOnce/],
  ['a place', send({ kind: 'location', latitude: 1, longitude: 1, name: '', address: '' }), /^channels take/],
  ['a reply', send(text, { replyTo: '3EB0' }), /^replyid/],
  ['a mention', send(text, { mentions: ['all'] }), /^mentions/],
  ['a reply with spaces around the channel', send(text, { number: ` ${channel} `, replyTo: '3EB0' }), /^replyid/],
  ['a reply in a chat', send(text, { number: '5511999999999', replyTo: '3EB0' }), null],
];

for (const [title, given, problem] of rows)
  test(`channel rules: ${title}`, () => {
    const found = channelProblem(given);
    if (problem === null) assert.equal(found, null);
    else assert.match(found ?? '', problem);
  });
