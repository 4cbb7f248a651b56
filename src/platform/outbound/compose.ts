/** From what a client of the interface asked for to a message of the platform; the same for every kind of content. */
import { randomUUID } from 'node:crypto';
import {
  type AnyMessageContent,
  generateWAMessage,
  generateWAMessageFromContent,
  type GroupMetadata,
  proto,
  type WAMessage,
} from '@whiskeysockets/baileys';
import { done, refuse, type Message, type Result, type Send, type SendContent } from '#actors/model.ts';
import type { LiveConnection } from '../connection/live-connection.ts';
import type { Directory } from '../directory.ts';
import { convertMessage } from '../events/from-message.ts';
import { bare, isGroup, isLid, personJid, resolveTarget } from '../jid.ts';
import { isPlainText, textContent } from './text.ts';

/** As the platform's web client makes them: `3EB0` and 18 digits. Node pools the randomness of UUIDs; the library asks the system for each id. */
export const newMessageId = (): string => {
  const [first = '', second = '', , , last = ''] = randomUUID().split('-');
  return `3EB0${(first + second + last).slice(0, 18).toUpperCase()}`;
};

interface Composer<Content> {
  /** The content without quotes, mentions and marks. */
  content(content: Content, connection: LiveConnection): Promise<AnyMessageContent>;
  /** The same without a connection, as far as that goes. */
  draft(content: Content): proto.IMessage;
  /** The draft is complete: the content needs nothing from the network. */
  isComplete(content: Content): boolean;
}

/** One row a kind of content. */
const composers: { readonly [K in SendContent['kind']]: Composer<Extract<SendContent, { kind: K }>> } = {
  text: { content: textContent, draft: ({ text }) => ({ extendedTextMessage: { text } }), isComplete: isPlainText },
};

/** A stored message in the shape that is quoted; null when it has no content to quote. */
const quotable = (stored: Message): WAMessage | null => {
  if (stored.raw === null) return null;
  const key = {
    remoteJid: stored.chatId,
    id: stored.messageId,
    fromMe: stored.fromMe,
    ...(stored.isGroup ? { participant: stored.sender } : {}),
  };
  return { key, message: proto.Message.decode(stored.raw) };
};

const mentionJid = (mention: string): string => (mention.includes('@') ? bare(mention) : personJid(mention.replace(/\D/g, '')));

/** In groups that speak in LIDs a mention is one too, where it is known. */
const mentioned = (mentions: readonly string[], group: GroupMetadata | null, directory: Directory): string[] => {
  if (mentions.includes('all')) return (group?.participants ?? []).map(({ id }) => id);
  return mentions.map(mentionJid).map((jid) => (group?.addressingMode === 'lid' && !isLid(jid) ? directory.lid(jid) || jid : jid));
};

/** What was composed in this process, so that a message is encoded and not decoded again. Keyed by the bytes, which every copy of a message shares. */
const contents = new WeakMap<Uint8Array, proto.IMessage>();

/** The content of a composed message; null when there is none, or it cannot be read. */
export const contentOf = ({ raw }: Message): proto.IMessage | null => {
  if (raw === null) return null;
  try {
    return contents.get(raw) ?? proto.Message.decode(raw);
  } catch {
    return null;
  }
};

/** A message of the library as the gateway keeps it, with status `Queued`. */
export const recordOf = (full: WAMessage, directory: Directory): Result<Message> => {
  const content = full.message;
  const converted = convertMessage(full, directory, { wasSentByApi: true, status: 'Queued' });
  if (converted === null || !content) return refuse('invalid', 'the message is empty');
  if (converted.message.raw !== null) contents.set(converted.message.raw, content);
  return done(converted.message);
};

/** The context that every kind of content can have: quotes, mentions, the mark of a forwarded message. */
const contextOf = async ({ jid, send, quoted }: { jid: string; send: Send; quoted: WAMessage | null }, connection: LiveConnection) => {
  const group = isGroup(jid) && send.mentions.length > 0 ? await connection.group(jid) : null;
  await connection.learn([jid, ...send.mentions.map(mentionJid)]);
  const mentions = mentioned(send.mentions, group, connection.directory);
  return {
    quoted,
    marks: {
      ...(mentions.length === 0 ? {} : { mentions }),
      ...(send.forward ? { contextInfo: { isForwarded: true, forwardingScore: 1 } } : {}),
    },
  };
};

const noUpload = (): Promise<never> => Promise.reject(new Error('this kind of content uploads nothing'));

/** Nothing is written. Refused (`invalid`) when the number makes no sense or the quoted message is unknown. `draft`: whose ids are kept. */
export const compose = async (send: Send, draft: Message | null, connection: LiveConnection): Promise<Result<Message>> => {
  const target = resolveTarget(send.number);
  if (!target.ok) return refuse('invalid', target.message);
  const { jid } = target;
  const stored = send.replyTo === '' ? null : await connection.stored(send.replyTo);
  const quotedMessage = stored === null ? null : quotable(stored);
  if (send.replyTo !== '' && quotedMessage === null) return refuse('invalid', `the quoted message ${send.replyTo} is unknown`);
  const { quoted, marks } = await contextOf({ jid, send, quoted: quotedMessage }, connection);
  const content = { ...(await composers[send.content.kind].content(send.content, connection)), ...marks } as AnyMessageContent;
  const full = await generateWAMessage(jid, content, {
    userJid: connection.directory.me.pn,
    messageId: draft?.messageId ?? newMessageId(),
    upload: noUpload,
    ...(quoted === null ? {} : { quoted }),
  });
  const record = recordOf(full, connection.directory);
  if (!record.ok || draft === null) return record;
  return done({ ...record.value, id: draft.id, chatId: draft.chatId, timestamp: draft.timestamp });
};

/** A message without any connection: `raw` is set when nothing has to be looked up for it. */
export const draft = (send: Send, directory: Directory): Result<Message> => {
  const target = resolveTarget(send.number);
  if (!target.ok) return refuse('invalid', target.message);
  const { kind } = send.content;
  const options = { userJid: directory.me.pn, messageId: newMessageId() };
  const record = recordOf(generateWAMessageFromContent(target.jid, composers[kind].draft(send.content), options), directory);
  if (!record.ok) return record;
  const complete = composers[kind].isComplete(send.content) && send.replyTo === '' && send.mentions.length === 0 && !send.forward;
  return complete ? record : done({ ...record.value, raw: null });
};
