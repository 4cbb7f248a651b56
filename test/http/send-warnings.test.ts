/** Tests the warnings of sends that leave out a part of the request. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { asInstance, setUpCommon, type Setup } from './setup.ts';

const number = '5511999999999';
const file = 'https://example.com/file';
const choices = ['One', 'Two'];

let app: Setup['app'];

before(async () => {
  ({ app } = await setUpCommon());
});

const sends: readonly (readonly [title: string, path: string, body: Readonly<Record<string, unknown>>, warning: string | undefined])[] = [
  [
    'the text of a voice message',
    '/send/media',
    { number, type: 'ptt', file, text: 'Hi' },
    'media of the type ptt has no caption: the text was left out',
  ],
  [
    'the caption of a sticker',
    '/send/media',
    { number, type: 'sticker', file, caption: 'Hi' },
    'media of the type sticker has no caption: the text was left out',
  ],
  ['nothing of a picture', '/send/media', { number, type: 'image', file, text: 'Hi' }, undefined],
  ['nothing of a voice message without a text', '/send/media', { number, type: 'ptt', file }, undefined],
  [
    'the text of an audio status',
    '/send/status',
    { type: 'audio', file, text: 'Hi' },
    'media of the type audio has no caption: the text was left out',
  ],
  [
    'the footer and the picture of a poll',
    '/send/menu',
    { number, type: 'poll', text: 'Which?', choices, footerText: 'Soon', imageButton: file },
    'a menu of the type poll has no footerText and no imageButton',
  ],
  [
    'the picture of a list',
    '/send/menu',
    { number, type: 'list', text: 'Which?', choices: ['[All]', 'One|1'], footerText: 'Soon', imageButton: file },
    'a menu of the type list has no imageButton',
  ],
  ['nothing of buttons', '/send/menu', { number, type: 'button', text: 'Hi', choices, footerText: 'Soon', imageButton: file }, undefined],
];

for (const [title, url, payload, warning] of sends)
  test(`send warnings: the answer names ${title}`, async () => {
    const answer = await app.inject({ method: 'POST', url, headers: asInstance, payload });
    assert.deepEqual([answer.statusCode, answer.json().warning], [200, warning]);
  });
