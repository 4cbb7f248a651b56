/** Tests the conversion of texts and events between WhatsApp and Chatwoot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addresseeOf, deletedDraft, draftOf, failureOf, fromMarkdown, partsOf, toMarkdown } from '#actors/chatwoot/texts.ts';
import { linkOf, trackIdOf } from '#actors/chatwoot/conversations.ts';
import type { ToldMessage } from '#actors/model.ts';

const outwards: readonly (readonly [given: string, markdown: string])[] = [
  ['plain', 'plain'],
  ['*bold* and _slanted_', '**bold** and _slanted_'],
  ['~gone~', '~~gone~~'],
  ['2 * 3 * 4', '2 * 3 * 4'],
  ['a*b*c', 'a*b*c'],
  ['*two\nlines*', '*two\nlines*'],
  ['```*code*```', '```*code*```'],
  ['*a* *b*', '**a** **b**'],
];
for (const [given, markdown] of outwards) test(`toMarkdown: ${JSON.stringify(given)}`, () => assert.equal(toMarkdown(given), markdown));

const inwards: readonly (readonly [given: string, text: string])[] = [
  ['plain', 'plain'],
  ['**bold** and _slanted_', '*bold* and _slanted_'],
  ['*slanted*', '_slanted_'],
  ['~~gone~~', '~gone~'],
  [String.raw`5 \* 3 \_ 1\.`, '5 * 3 _ 1.'],
  ['`**code**`', '`**code**`'],
  ['**a** *b*', '*a* _b_'],
  ['**a **b**', '**a *b*'],
  ['**two words** ~~and more~~', '*two words* ~and more~'],
];
for (const [given, text] of inwards) test(`fromMarkdown: ${JSON.stringify(given)}`, () => assert.equal(fromMarkdown(given), text));

test('texts: unusual markup is parsed in linear time', () => {
  const before = process.cpuUsage().user;
  for (const piece of ['*', '*a ', '`', '~a*', ' **a', ' ~~a', '**a ~~b']) {
    const text = piece.repeat(320_000 / piece.length);
    toMarkdown(text);
    fromMarkdown(text);
  }
  assert.ok(process.cpuUsage().user - before < 2_000_000);
});

const message: ToldMessage = {
  messageId: 'm1',
  chatId: '5511988880001@s.whatsapp.net',
  fromMe: false,
  isGroup: false,
  senderName: 'Ana',
  senderPn: '5511988880001@s.whatsapp.net',
  messageType: 'Conversation',
  type: 'text',
  mediaType: '',
  text: 'hello',
  quoted: '',
  edited: '',
  reaction: '',
  vote: '',
  convertOptions: '',
  trackSource: '',
  trackId: '',
  place: null,
};
const chat = { chatId: message.chatId, name: 'Ana', image: '' };
const group = { chatId: '1@g.us', isGroup: true };

const drafts: readonly (readonly [title: string, change: Partial<ToldMessage>, expected: object | null])[] = [
  ['a text', {}, { key: 'm1', text: 'hello', incoming: true, isNote: false, about: '', hasFile: false }],
  ['an own text', { fromMe: true }, { incoming: false, text: 'hello' }],
  ['a group', group, { text: '**Ana (+5511988880001):**\nhello' }],
  ['a group and somebody without a name', { ...group, senderName: '' }, { text: '**+5511988880001:**\nhello' }],
  ['an own text in a group', { ...group, fromMe: true }, { text: 'hello' }],
  ['a picture without a caption', { type: 'media', mediaType: 'image', text: '' }, { text: '', hasFile: true }],
  ['a picture in a group', { ...group, type: 'media', mediaType: 'image', text: '' }, { text: '**Ana (+5511988880001):**', hasFile: true }],
  [
    'a place',
    { place: { name: 'Shop', address: 'Rua 1', latitude: 1, longitude: 2 } },
    { text: 'Shop\nRua 1\nhttps://maps.google.com/?q=1,2' },
  ],
  ['a poll', { type: 'poll', text: 'when?', convertOptions: 'now|later' }, { text: 'when?\n- now\n- later' }],
  ['a vote', { type: 'poll', vote: 'now', quoted: 'm0' }, { isNote: true, about: 'm0', text: 'Ana voted: now' }],
  ['a reaction', { type: 'reaction', text: '👍', reaction: 'm0' }, { isNote: true, about: 'm0', text: 'Ana reacted with 👍' }],
  ['a reaction taken back', { type: 'reaction', text: '', reaction: 'm0' }, { text: 'Ana removed the reaction' }],
  ['an edit', { edited: 'm0' }, { text: 'Edited: hello', about: 'm0', isNote: false }],
  ['a reply', { quoted: 'm0' }, { about: 'm0' }],
  ['an unknown kind', { messageType: 'OrderMessage', type: 'order', text: '' }, { text: '[OrderMessage]' }],
  ['a pin', { messageType: 'UnknownMessageType', type: 'unknown', text: '' }, null],
  ['a status post', { chatId: 'status@broadcast' }, null],
  ['a channel', { chatId: '1@newsletter' }, null],
];
for (const [title, change, expected] of drafts)
  test(`draftOf: ${title}`, () => {
    const draft = draftOf({ ...message, ...change }, chat);
    if (expected === null) assert.equal(draft, null);
    else assert.partialDeepStrictEqual(draft, expected);
  });

test('deletedDraft: it has a key of its own, so that it is posted once', () =>
  assert.partialDeepStrictEqual(deletedDraft('m1', false), { key: 'm1:deleted', about: 'm1', isNote: true }));

test('linkOf: reads the ids that trackIdOf wrote, and no others', () => {
  assert.deepEqual(linkOf(trackIdOf({ conversationId: 7, id: 9 })), { conversationId: 7, id: 9 });
  for (const other of ['', 'order 7', '7/', '/9', '7/9/1', '7/x']) assert.equal(linkOf(other), null);
});

const written = {
  kind: 'message',
  accountId: 1,
  inboxId: 1,
  conversationId: 7,
  id: 9,
  sourceId: '',
  text: '**hi**',
  agent: 'Bia',
  files: [],
  replyTo: 0,
  contact: { id: 1, name: '', identifier: '', phone: '', sourceId: '' },
} as const;
const file = (kind: string) => ({ url: `https://chat.example.com/${kind}`, kind });

const parts: readonly (readonly [title: string, change: object, sign: boolean, expected: readonly string[]])[] = [
  ['a text', {}, false, ['text *hi*']],
  ['a text with a name', {}, true, ['text *Bia:*\n*hi*']],
  ['a message that Chatwoot sends by itself has no name', { agent: '' }, true, ['text *hi*']],
  ['a picture with its caption', { files: [file('image')] }, false, ['image|document *hi*']],
  ['a voice message after its text', { files: [file('audio')] }, false, ['text *hi*', 'ptt|audio|document ']],
  [
    'a file of a kind that every object inherits',
    { text: '', files: [file('__proto__'), file('constructor')] },
    false,
    ['document ', 'document '],
  ],
  ['two files', { text: '', files: [file('file'), file('video')] }, true, ['document ', 'video|document ']],
];
for (const [title, change, sign, expected] of parts)
  test(`partsOf: ${title}`, () => {
    const made = partsOf({ ...written, ...change }, sign).map((forms) => {
      const kinds = forms.map((content) => (content.kind === 'media' ? content.as : content.kind)).join('|');
      const [first] = forms;
      return `${kinds} ${first?.kind === 'text' ? first.text : first?.kind === 'media' ? first.caption : ''}`;
    });
    assert.deepEqual(made, expected);
  });

const failures: readonly (readonly [
  title: string,
  files: number,
  kind: string,
  refused: readonly (readonly [number, string])[],
  expected: string,
])[] = [
  ['the only part', 1, 'image', [[0, 'gone']], 'gone'],
  ['one of three', 3, 'image', [[1, 'gone']], 'file 2 of 3: gone'],
  [
    'two of three',
    3,
    'image',
    [
      [0, 'gone'],
      [2, 'empty'],
    ],
    'file 1 of 3: gone; file 3 of 3: empty',
  ],
  [
    'all of them, for one reason',
    2,
    'image',
    [
      [0, 'gone'],
      [1, 'gone'],
    ],
    'gone',
  ],
  [
    'all of them, for several reasons',
    2,
    'image',
    [
      [0, 'gone'],
      [1, 'empty'],
    ],
    'file 1 of 2: gone; file 2 of 2: empty',
  ],
  ['sound after a text', 1, 'audio', [[1, 'gone']], 'file 1 of 1: gone'],
  ['the text before sound', 1, 'audio', [[0, 'too long']], 'text: too long'],
];
for (const [title, count, kind, refused, expected] of failures)
  test(`failureOf: ${title}`, () => {
    const files = Array.from({ length: count }, () => ({ url: 'https://example.com/x', kind }));
    assert.equal(
      failureOf(
        { ...written, files },
        refused.map(([part, reason]) => ({ part, reason })),
      ),
      expected,
    );
  });

const addressees: readonly (readonly [title: string, identifier: string, phone: string, expected: string])[] = [
  ['a person', '5511988880001@s.whatsapp.net', '', '5511988880001@s.whatsapp.net'],
  ['a person by LID', '123456789012345@lid', '+5511988880001', '123456789012345@lid'],
  ['a group', '120363000000000001@g.us', '', '120363000000000001@g.us'],
  ['a number', '', '+55 11 98888-0001', '5511988880001'],
  ['an e-mail address and a number', 'ana@example.com', '+5511988880001', '5511988880001'],
  ['a channel', '120363000000000001@newsletter', '', ''],
  ['the status posts', 'status@broadcast', '', ''],
  ['a broadcast list', '5511988880001@broadcast', '', ''],
  ['the own number', '5511900000001@s.whatsapp.net', '', ''],
  ['the own LID', '99900011122233@lid', '', ''],
  ['the own number as a telephone number', '', '+5511900000001', ''],
  ['a device', '5511988880001:3@s.whatsapp.net', '', ''],
  ['two lines', '5511988880001@s.whatsapp.net\nx', '', ''],
  ['more digits than a number has', '', '120363000000000001', ''],
];
for (const [title, identifier, phone, expected] of addressees)
  test(`addresseeOf: ${title}`, () =>
    assert.equal(addresseeOf({ identifier, phone }, { owner: '5511900000001', lid: '99900011122233:4@lid' }), expected));
