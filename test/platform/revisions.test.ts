/** Tests the stanzas that change a stored message, and the refusals that come before any write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import { edit, pin } from '#src/platform/outbound/about.ts';
import { compose } from '#src/platform/outbound/compose.ts';
import type { LiveConnection } from '#src/platform/outbound/live-connection.ts';
import { message as sample } from '#test/contract/samples.ts';
import { plainDirectory } from './plain-directory.ts';

const at = sample.timestamp;
const minutes = (count: number): number => at + count * 60_000;
const targetOf = (content: proto.IMessage, change: Partial<Message> = {}) => {
  const message = { ...sample, fromMe: true, raw: proto.Message.encode(content).finish(), ...change };
  return { message, key: { remoteJid: message.chatId, id: message.messageId, fromMe: message.fromMe } };
};
const text = { conversation: 'old' };
const late = 'a message can be edited for 15 minutes after it was sent';
const wordless = 'only texts and captions can be edited';

const edits: readonly (readonly [title: string, target: ReturnType<typeof targetOf>, now: number, expected: proto.IMessage | string])[] = [
  ['a text', targetOf(text), minutes(0), { extendedTextMessage: { text: 'new' } }],
  ['a text of 15 minutes', targetOf(text), minutes(15), { extendedTextMessage: { text: 'new' } }],
  ['a text of more than 15 minutes', targetOf(text), minutes(15) + 1, late],
  [
    'an answer keeps what it quotes',
    targetOf({ extendedTextMessage: { text: 'old', contextInfo: { stanzaId: 'Q' } } }),
    minutes(1),
    { extendedTextMessage: { text: 'new', contextInfo: { stanzaId: 'Q' } } },
  ],
  [
    'a caption keeps its picture',
    targetOf({ imageMessage: { directPath: '/p', caption: 'old' } }),
    minutes(1),
    { imageMessage: { directPath: '/p', caption: 'new' } },
  ],
  [
    'the caption of a document in its wrapper',
    targetOf({ documentWithCaptionMessage: { message: { documentMessage: { fileName: 'a.pdf', caption: 'old' } } } }),
    minutes(1),
    { documentMessage: { fileName: 'a.pdf', caption: 'new' } },
  ],
  ['a sticker', targetOf({ stickerMessage: { directPath: '/p' } }), minutes(1), wordless],
  ['a message whose content is gone', targetOf(text, { raw: null }), minutes(1), wordless],
  ["somebody else's", targetOf(text, { fromMe: false }), minutes(1), 'only own messages can be edited'],
];

for (const [title, target, now, expected] of edits)
  test(`edit: ${title}`, () => {
    const made = edit(target, 'new', now);
    if (typeof made === 'string' || typeof expected === 'string') return assert.equal(made, expected);
    const { editedMessage, key, timestampMs } = made.protocolMessage ?? {};
    assert.deepEqual(proto.Message.toObject(proto.Message.fromObject(editedMessage ?? {})), expected);
    assert.deepEqual([key?.id, timestampMs], [target.message.messageId, now]);
  });

test('pin: it has a duration or none, and is refused in a channel', () => {
  const { PIN_FOR_ALL, UNPIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;
  const shapeOf = (seconds: number) => {
    const made = pin(targetOf(text), seconds, at) as proto.IMessage;
    return [made.pinInChatMessage?.type, made.messageContextInfo?.messageAddOnDurationInSecs];
  };
  assert.deepEqual(
    [shapeOf(86_400), shapeOf(0)],
    [
      [PIN_FOR_ALL, 86_400],
      [UNPIN_FOR_ALL, 0],
    ],
  );
  assert.equal(pin(targetOf(text, { chatId: '1@newsletter' }), 86_400, at), 'message pinning is not supported for newsletters');
});

const secret = { messageContextInfo: { messageSecret: Uint8Array.of(1) } };
const quotes: readonly (readonly [title: string, stored: Message, expected: proto.IMessage])[] = [
  ['a text', targetOf(text, { edited: '' }).message, text],
  [
    'an edited text with its present text',
    targetOf({ ...text, ...secret }, { edited: 'E', text: 'new' }).message,
    { extendedTextMessage: { text: 'new' } },
  ],
  [
    'an edited caption with its present text',
    targetOf({ imageMessage: { directPath: '/p', caption: 'old' } }, { edited: 'E', text: 'new' }).message,
    { imageMessage: { directPath: '/p', caption: 'new' } },
  ],
  [
    'an edited event with its first content',
    targetOf({ eventMessage: { name: 'Party' } }, { edited: 'E', text: 'Feast' }).message,
    { eventMessage: { name: 'Party' } },
  ],
];

for (const [title, stored, expected] of quotes)
  test(`reply: it quotes ${title}`, async () => {
    const connection: Partial<LiveConnection> = {
      directory: plainDirectory,
      stored: async () => stored,
      loadMappings: async () => undefined,
      timer: async () => 0,
    };
    const content = { kind: 'text' as const, text: 'yes', preview: null };
    const send = { number: stored.chatId, replyTo: stored.messageId, mentions: [], forward: false, content };
    const composed = await compose(send, null, connection as LiveConnection);
    assert.ok(composed.ok && composed.value.raw);
    const { quotedMessage } = proto.Message.decode(composed.value.raw).extendedTextMessage?.contextInfo ?? {};
    assert.deepEqual(proto.Message.toObject(proto.Message.fromObject(quotedMessage ?? {})), expected);
  });
