/** Tests the message of each kind of content against golden objects. The generator of the library makes the messages where it can. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyMessageContent, generateWAMessage, proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import { contentView, spelled } from '#src/contract/message.ts';
import { contentJson } from '#src/platform/events/library-values.ts';
import type { Directory } from '#src/platform/wire/jid.ts';
import { convertMessage } from '#src/platform/events/from-messages.ts';
import { mediaFacts } from '#src/platform/outbound/media-stream.ts';

const me = { pn: '5511900000001@s.whatsapp.net', lid: '111111111111111@lid', name: 'Ana' };
const friend = { pn: '5511900000002@s.whatsapp.net', lid: '222222222222222@lid' };

const directory: Directory = {
  me,
  pn: (lid) => (lid === friend.lid ? friend.pn : ''),
  lid: (pn) => (pn === friend.pn ? friend.lid : ''),
  groupName: (jid) => (jid === '123@g.us' ? 'Team' : ''),
  community: () => null,
  newId: () => 'r0000000',
  now: () => 5_000,
};

const upload = async () => ({ mediaUrl: 'https://media/x', directPath: '/x' });
const key = { remoteJid: friend.pn, id: '3A0123456789ABCDEF01', fromMe: false };

const from = (message: proto.IMessage, more: Partial<WAMessage> = {}): Message => {
  const decoded = proto.Message.decode(proto.Message.encode(message).finish());
  const converted = convertMessage({ key, message: decoded, messageTimestamp: 1_700_000_000, pushName: 'Friend', ...more }, directory);
  assert.ok(converted);
  return converted.message;
};

const generated = async (content: AnyMessageContent, more: Partial<WAMessage> = {}): Promise<Message> => {
  const full = await generateWAMessage(friend.pn, content, { userJid: me.pn, upload });
  return from(full.message ?? {}, more);
};

/** Returns the fields that a case is about, with the content in the format of the API. */
const facts = ({
  messageType,
  type,
  mediaType,
  text,
  quoted,
  reaction,
  vote,
  convertOptions,
  buttonOrListId,
  content: stored,
}: Message) => {
  const content = contentView(stored);
  const all = { messageType, type, mediaType, text, quoted, reaction, vote, convertOptions, buttonOrListId, content };
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => value !== '' || name === 'mediaType'));
};

const jpeg = Uint8Array.of(1, 2, 3);
const media = {
  url: 'https://mmg/x',
  mimetype: 'x/y',
  fileSha256: jpeg,
  fileEncSha256: jpeg,
  fileLength: 12,
  mediaKey: jpeg,
  mediaKeyTimestamp: 1_700_000_000,
  directPath: '/x',
};
const mediaContent = {
  URL: 'https://mmg/x',
  mimetype: 'x/y',
  fileSHA256: 'AQID',
  fileEncSHA256: 'AQID',
  fileLength: 12,
  mediaKey: 'AQID',
  mediaKeyTimestamp: 1_700_000_000,
  directPath: '/x',
};

const decodedKinds: readonly (readonly [string, proto.IMessage, Record<string, unknown>])[] = [
  ['a plain text', { conversation: 'hi' }, { messageType: 'Conversation', type: 'text', mediaType: '', text: 'hi', content: 'hi' }],
  [
    'a picture',
    { imageMessage: { ...media, caption: 'look', height: 3, width: 4, jpegThumbnail: jpeg } },
    {
      messageType: 'ImageMessage',
      type: 'media',
      mediaType: 'image',
      text: 'look',
      content: { ...mediaContent, caption: 'look', height: 3, width: 4, JPEGThumbnail: 'AQID' },
    },
  ],
  [
    'a voice note',
    { audioMessage: { ...media, seconds: 3, ptt: true, waveform: jpeg } },
    { messageType: 'AudioMessage', type: 'media', mediaType: 'ptt', content: { ...mediaContent, seconds: 3, PTT: true, waveform: 'AQID' } },
  ],
  [
    'a moving picture',
    { videoMessage: { ...media, gifPlayback: true, gifAttribution: 1 } },
    { messageType: 'VideoMessage', type: 'media', mediaType: 'gif', content: { ...mediaContent, gifPlayback: true, gifAttribution: 1 } },
  ],
  [
    'a sticker',
    { stickerMessage: { ...media, isAnimated: true, isAiSticker: false } },
    {
      messageType: 'StickerMessage',
      type: 'media',
      mediaType: 'sticker',
      content: { ...mediaContent, isAnimated: true, isAiSticker: false },
    },
  ],
  [
    'a document with a caption, in its wrapper',
    { documentWithCaptionMessage: { message: { documentMessage: { ...media, fileName: 'a.pdf', pageCount: 2, caption: 'read' } } } },
    {
      messageType: 'DocumentMessage',
      type: 'media',
      mediaType: 'document',
      text: 'read',
      content: { ...mediaContent, fileName: 'a.pdf', pageCount: 2, caption: 'read' },
    },
  ],
  [
    'a row of a list',
    {
      listResponseMessage: {
        title: 'Blue',
        listType: 1,
        singleSelectReply: { selectedRowId: 'row1' },
        contextInfo: { stanzaId: 'LIST', participant: me.pn },
        description: 'd',
      },
    },
    {
      messageType: 'ListResponseMessage',
      type: 'media',
      mediaType: 'list_response',
      vote: 'Blue',
      buttonOrListId: 'row1',
      quoted: 'LIST',
      content: {
        title: 'Blue',
        listType: 1,
        singleSelectReply: { selectedRowID: 'row1' },
        contextInfo: { stanzaID: 'LIST', participant: me.pn },
        description: 'd',
      },
    },
  ],
  [
    'a button',
    { buttonsResponseMessage: { selectedButtonId: 'b1', selectedDisplayText: 'Yes', type: 1, contextInfo: { stanzaId: 'ASK' } } },
    {
      messageType: 'ButtonsResponseMessage',
      type: 'media',
      mediaType: 'buttons_response',
      vote: 'Yes',
      buttonOrListId: 'b1',
      quoted: 'ASK',
      content: {
        selectedButtonID: 'b1',
        selectedDisplayText: 'Yes',
        Response: { SelectedDisplayText: 'Yes' },
        type: 1,
        contextInfo: { stanzaID: 'ASK' },
      },
    },
  ],
  [
    'a vote',
    {
      pollUpdateMessage: {
        pollCreationMessageKey: { remoteJid: friend.pn, fromMe: true, id: 'POLL' },
        vote: { encPayload: jpeg, encIv: jpeg },
        senderTimestampMs: 7,
      },
    },
    {
      messageType: 'PollUpdateMessage',
      type: 'poll',
      mediaType: '',
      quoted: 'POLL',
      content: {
        pollCreationMessageKey: { remoteJID: friend.pn, fromMe: true, ID: 'POLL' },
        vote: { encPayload: 'AQID', encIV: 'AQID' },
        senderTimestampMS: 7,
      },
    },
  ],
  [
    'a kind that nobody knows',
    { stickerPackMessage: { name: 'Pack' } },
    { messageType: 'StickerPackMessage', type: 'unknown', mediaType: '', content: { name: 'Pack' } },
  ],
];

for (const [title, message, expected] of decodedKinds) {
  test(`content: ${title}`, () => assert.deepEqual(facts(from(message)), expected));
}

for (const wrapper of ['lottieStickerMessage', 'groupMentionedMessage', 'botInvokeMessage'] as const)
  test(`content: ${wrapper} shows the message inside, and its file can be downloaded`, () => {
    const inner = { [wrapper]: { message: { ephemeralMessage: { message: { stickerMessage: media } } } } };
    const message = from({ ephemeralMessage: { message: inner } });
    assert.deepEqual([message.messageType, message.mediaType, contentView(message.content)], ['StickerMessage', 'sticker', mediaContent]);
    assert.equal(mediaFacts(message, false)?.size, 12);
  });

test('content: a wrapper without a message inside keeps its own kind', () => {
  const { messageType, mediaType } = from({ lottieStickerMessage: {} });
  assert.deepEqual([messageType, mediaType], ['LottieStickerMessage', 'sticker']);
});

const generatedKinds: readonly (readonly [string, AnyMessageContent, Record<string, unknown>])[] = [
  [
    'a text of the API',
    { text: 'hi', linkPreview: null },
    { messageType: 'ExtendedTextMessage', type: 'text', mediaType: '', text: 'hi', content: { text: 'hi' } },
  ],
  [
    'a contact',
    { contacts: { contacts: [{ displayName: 'Eva', vcard: 'BEGIN:VCARD\nitem1.TEL;waid=551199:+55 11 99\nEND:VCARD' }] } },
    {
      messageType: 'ContactMessage',
      type: 'media',
      mediaType: 'vcard',
      text: 'Eva\n+55 11 99',
      content: { displayName: 'Eva', vcard: 'BEGIN:VCARD\nitem1.TEL;waid=551199:+55 11 99\nEND:VCARD' },
    },
  ],
  [
    'a place',
    { location: { degreesLatitude: 1.5, degreesLongitude: 2.5 } },
    { messageType: 'LocationMessage', type: 'media', mediaType: 'location', content: { degreesLatitude: 1.5, degreesLongitude: 2.5 } },
  ],
  [
    'a poll with one choice',
    { poll: { name: 'When?', values: ['now', 'later'], selectableCount: 1 } },
    {
      messageType: 'PollCreationMessageV3',
      type: 'poll',
      mediaType: '',
      text: 'When?',
      convertOptions: 'now|later',
      content: {
        pollCreationMessageV3: { name: 'When?', options: [{ optionName: 'now' }, { optionName: 'later' }], selectableOptionsCount: 1 },
      },
    },
  ],
  [
    'a reaction',
    { react: { key: { remoteJid: friend.pn, fromMe: true, id: 'T' }, text: '👍', senderTimestampMs: 9 } },
    {
      messageType: 'ReactionMessage',
      type: 'reaction',
      mediaType: '',
      text: '👍',
      reaction: 'T',
      content: { key: { remoteJID: friend.pn, fromMe: true, ID: 'T' }, text: '👍', senderTimestampMS: 9 },
    },
  ],
];

for (const [title, content, expected] of generatedKinds) {
  test(`content: ${title}`, async () => assert.deepEqual(facts(await generated(content)), expected));
}

const inGroup = { remoteJid: '123@g.us', id: 'AC6E26C423369B2EF84A752AAA72E2C0', fromMe: false };

test('parties: a direct chat by phone number', () => {
  const message = from({ conversation: 'hi' });
  assert.deepEqual(
    [message.chatId, message.chatLid, message.sender, message.senderPn, message.senderLid, message.senderName, message.source],
    [friend.pn, friend.lid, friend.pn, friend.pn, friend.lid, 'Friend', 'ios'],
  );
  assert.deepEqual([message.timestamp, message.status, message.isGroup, message.id], [1_700_000_000_000, '', false, 'r0000000']);
});

test('parties: a direct chat by LID has the number, whether it is in the message or known', () => {
  for (const remoteJidAlt of [friend.pn, undefined]) {
    const told = remoteJidAlt === undefined ? {} : { remoteJidAlt };
    const message = from({ conversation: 'hi' }, { key: { ...key, remoteJid: friend.lid, addressingMode: 'lid', ...told } });
    assert.deepEqual([message.chatId, message.chatLid, message.sender, message.senderPn], [friend.pn, friend.lid, friend.lid, friend.pn]);
  }
});

test('parties: an unknown LID stays the id of the chat', () => {
  const message = from({ conversation: 'hi' }, { key: { ...key, remoteJid: '333@lid' } });
  assert.deepEqual([message.chatId, message.chatLid, message.senderPn, message.senderLid], ['333@lid', '333@lid', '', '333@lid']);
});

test('parties: a member of a group is named without the device', () => {
  const message = from({ conversation: 'hi' }, { key: { ...inGroup, participant: '222222222222222:7@lid', participantAlt: friend.pn } });
  assert.deepEqual(
    [
      message.chatId,
      message.chatLid,
      message.sender,
      message.senderPn,
      message.senderLid,
      message.groupName,
      message.isGroup,
      message.source,
    ],
    ['123@g.us', '', friend.lid, friend.pn, friend.lid, 'Team', true, 'android'],
  );
});

test('parties: own messages from the phone are sent, and their chat is the contact even if the own number is in them', () => {
  const message = from({ conversation: 'hi' }, { key: { ...key, fromMe: true, remoteJid: friend.lid, remoteJidAlt: me.pn }, status: 2 });
  assert.deepEqual(
    [message.chatId, message.senderPn, message.status, message.senderName, message.fromMe],
    [friend.pn, me.pn, 'Sent', 'Ana', true],
  );
});

test('parties: a status that was merged into an own message is kept', () => {
  assert.equal(from({ conversation: 'hi' }, { key: { ...key, fromMe: true }, status: 4 }).status, 'Read');
});

test('parties: a message without a time gets the current time', () => {
  assert.equal(from({ conversation: 'hi' }, { messageTimestamp: null }).timestamp, 5_000);
});

test('content: a message without visible content is left out', () => {
  for (const message of [null, {}, { senderKeyDistributionMessage: { groupId: 'x' } }, { messageContextInfo: { messageSecret: jpeg } }]) {
    assert.equal(convertMessage({ key, message }, directory), null);
  }
});

test('content: the raw message is kept with its secret', () => {
  const { raw } = from({ conversation: 'hi', messageContextInfo: { messageSecret: jpeg } });
  assert.ok(raw);
  assert.deepEqual(proto.Message.decode(raw).messageContextInfo?.messageSecret, Buffer.from(jpeg));
});

const names: readonly (readonly [string, string])[] = [
  ['url', 'URL'],
  ['fileSha256', 'fileSHA256'],
  ['thumbnailEncSha256', 'thumbnailEncSHA256'],
  ['jpegThumbnail', 'JPEGThumbnail'],
  ['stanzaId', 'stanzaID'],
  ['ptt', 'PTT'],
  ['id', 'ID'],
  ['remoteJid', 'remoteJID'],
  ['mentionedJid', 'mentionedJID'],
  ['selectedRowId', 'selectedRowID'],
  ['senderTimestampMs', 'senderTimestampMS'],
  ['encIv', 'encIV'],
  ['video', 'video'],
  ['vcard', 'vcard'],
  ['pollCreationMessageV3', 'pollCreationMessageV3'],
];

for (const [name, expected] of names) test(`content: ${name} is spelled ${expected}`, () => assert.equal(spelled(name), expected));

test('content: a message that is nested without end is cut', () => {
  let nested: Record<string, unknown> = {};
  for (let depth = 0; depth < 10_000; depth += 1) nested = { nested };
  assert.ok(JSON.stringify(contentJson(nested)).length < 1_000);
});
