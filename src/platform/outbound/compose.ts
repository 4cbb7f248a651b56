/** Composes a message for the platform from the request of a client. All kinds of content share this path. */
import { randomBytes, randomUUID } from 'node:crypto';
import { generateWAMessageFromContent, getContentType, normalizeMessageContent, proto, type WAMessage } from '@whiskeysockets/baileys';
import { done, newPost, refuse, type Group, type Message, type Result, type Send, type SendContent } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import { bare, type Directory, formsOf, isChannel, isGroup, isLid, knownForm, personJid, resolveTarget } from '../wire/jid.ts';
import { convertMessage } from '../events/from-messages.ts';
import { withOtherText } from '../events/message-kinds.ts';
import { audienceOf } from './audience.ts';
import type { Composer, StoredForm } from './composer.ts';
import {
  channelInviteComposer,
  contactComposer,
  eventComposer,
  eventEditComposer,
  groupInviteComposer,
  locationComposer,
  pollComposer,
  textComposer,
} from './content/text.ts';
import {
  buttonsComposer,
  carouselComposer,
  listComposer,
  paymentComposer,
  pixComposer,
  placeRequestComposer,
} from './content/interactive.ts';
import { mediaComposer } from './content/media.ts';

/** Makes an id like the platform's web client: `3EB0` and 18 hex digits. The digits come from a UUID, because Node buffers random bytes for UUIDs. */
export const newMessageId = (): string => {
  const [first = '', second = '', , , last = ''] = randomUUID().split('-');
  return `3EB0${(first + second + last).slice(0, 18).toUpperCase()}`;
};

const composers: { readonly [K in SendContent['kind']]: Composer<Extract<SendContent, { kind: K }>> } = {
  text: textComposer,
  poll: pollComposer,
  contact: contactComposer,
  location: locationComposer,
  groupInvite: groupInviteComposer,
  channelInvite: channelInviteComposer,
  event: eventComposer,
  eventEdit: eventEditComposer,
  media: mediaComposer,
  buttons: buttonsComposer,
  list: listComposer,
  carousel: carouselComposer,
  placeRequest: placeRequestComposer,
  pix: pixComposer,
  payment: paymentComposer,
};

const composerOf = (content: SendContent): Composer<SendContent> => composers[content.kind] as Composer<SendContent>;

/** Returns true if the composition of a send uploads a file, which may take long. */
export const hasUpload = ({ content }: Send): boolean => composerOf(content).uploads === true;

/** Converts a stored message into the library's form of a quoted message, with the text of its last edit. Returns null if it has no content. */
const quotable = (stored: Message): WAMessage | null => {
  if (stored.raw === null) return null;
  const key = {
    remoteJid: stored.chatId,
    id: stored.messageId,
    fromMe: stored.fromMe,
    ...(stored.isGroup ? { participant: stored.sender } : {}),
  };
  // An edit changes the stored text, and not the stored content.
  const message = proto.Message.decode(stored.raw);
  return { key, message: (stored.edited === '' ? null : withOtherText(message, stored.text)) ?? message };
};

const mentionJid = (mention: string): string => (mention.includes('@') ? bare(mention) : personJid(mention.replace(/\D/g, '')));

/** Returns the addresses of mentioned people, in the form that the account knows. In groups with LID addressing, a known LID is used. */
const mentioned = (mentions: readonly string[], group: Group | null, directory: Directory): string[] => {
  const members = group?.members ?? [];
  if (mentions.includes('all')) return members.map(({ id }) => id);
  return mentions.map(mentionJid).map((written) => {
    const jid = knownForm(directory, written, members) ?? written;
    if (group?.addressing !== 'lid' || isLid(jid)) return jid;
    return directory.lid(jid) || members.find(({ pn }) => pn === jid)?.lid || jid;
  });
};

/** The decoded contents of messages that this process composed. The key is the encoded form, which all copies of a message share. */
const contents = new WeakMap<Uint8Array, proto.IMessage>();

/** Returns the decoded content of a message; null if it has none, or if it cannot be decoded. */
export const contentOf = ({ raw }: Message): proto.IMessage | null => {
  if (raw === null) return null;
  try {
    return contents.get(raw) ?? proto.Message.decode(raw);
  } catch {
    return null;
  }
};

/**
 * Converts a message of the library into the gateway's form, with status `Queued`. `shown`: the content from which the stored fields are read, if it
 * differs from the sent content.
 */
export const recordOf = (full: WAMessage, directory: Directory, shown: StoredForm | null = null): Result<Message> => {
  const content = full.message;
  const source = shown === null ? full : { ...full, message: shown.message };
  const converted = convertMessage(source, directory, { wasSentByApi: true, status: 'Queued', ...(shown && { edited: shown.edited }) });
  if (converted === null || !content) return refuse('invalid', 'the message is empty');
  const message = shown === null ? converted.message : { ...converted.message, raw: proto.Message.encode(content).finish() };
  if (message.raw !== null) contents.set(message.raw, content);
  return done(message);
};

/** Builds the context: mentions, the mark of a forwarded message, and the timer of the chat. */
const contextOf = async (jid: string, send: Send, connection: LiveConnection): Promise<proto.IContextInfo | null> => {
  const group = isGroup(jid) && send.mentions.length > 0 ? await connection.group(jid) : null;
  await connection.loadMappings([jid, ...send.mentions.flatMap((mention) => formsOf(mentionJid(mention)))]);
  const mentions = mentioned(send.mentions, group, connection.directory);
  const expiration = await connection.timer(jid);
  if (mentions.length === 0 && !send.forward && expiration === 0) return null;
  return {
    ...(expiration === 0 ? {} : { expiration }),
    ...(mentions.length === 0 ? {} : { mentionedJid: mentions }),
    ...(send.forward ? { isForwarded: true, forwardingScore: 1 } : {}),
  };
};

/** Contents that have no field for a context. They keep the timer of their target message. */
const contextless: ReadonlySet<string> = new Set([
  'pollUpdateMessage',
  'secretEncryptedMessage',
  'encEventResponseMessage',
  'protocolMessage',
] satisfies (keyof proto.IMessage)[]);

type Holder = { contextInfo?: proto.IContextInfo | null };

/** Returns the part of a content that has the field `contextInfo`; null if there is none. */
const holderIn = (message: proto.IMessage): Holder | null => {
  const inner = normalizeMessageContent(message);
  const kind = getContentType(inner);
  const content = kind === undefined || contextless.has(kind) ? undefined : inner?.[kind];
  return typeof content === 'object' && content !== null ? (content as Holder) : null;
};

const withContext = (message: proto.IMessage, context: proto.IContextInfo | null): proto.IMessage => {
  const holder = context && holderIn(message);
  if (holder) holder.contextInfo = { ...holder.contextInfo, ...context };
  return message;
};

/** Adds a secret to a message. Recipients need it for reporting abuse, and for answering polls and events. */
const withSecret = (message: proto.IMessage): proto.IMessage => ({
  ...message,
  messageContextInfo: { ...message.messageContextInfo, messageSecret: message.messageContextInfo?.messageSecret ?? randomBytes(32) },
});

/** Composes a channel post. A post has no mentions, no secret and no quote, because every follower can read it. */
const composePost = async (channel: string, send: Send, draft: Message | null, connection: LiveConnection): Promise<Result<Message>> => {
  const made = await composerOf(send.content).post?.(send.content, connection);
  if (made === undefined) return refuse('invalid', 'channels do not take this kind of message');
  if (!made.ok) return made;
  const { mediaId } = made.value;
  // The library adds a secret to texts. The secret is removed.
  const { messageContextInfo: _secret, ...message } = made.value.message;
  const context = send.forward ? { isForwarded: true, forwardingScore: 1 } : null;
  const options = { userJid: connection.directory.me.pn, messageId: draft?.messageId ?? newMessageId() };
  const record = recordOf(generateWAMessageFromContent(channel, withContext(message, context), options), connection.directory);
  return record.ok ? done({ ...record.value, ...idsOf(draft), post: { ...newPost, mediaId } }) : record;
};

/** Returns the ids and the time of an accepted message, which the composed message keeps. Returns no fields without an accepted message. */
const idsOf = (draft: Message | null) => (draft === null ? {} : { id: draft.id, chatId: draft.chatId, timestamp: draft.timestamp });

/**
 * Composes a message without sending it. Refuses with `invalid` if the number is not valid or the quoted message is unknown. Also passes on the refusals of the
 * composer and of `audienceOf`. `draft`: the message that was accepted before; null for none. Its ids and its time are kept.
 */
export const compose = async (send: Send, draft: Message | null, connection: LiveConnection): Promise<Result<Message>> => {
  const target = resolveTarget(send.number);
  if (!target.ok) return refuse('invalid', target.message);
  const { jid } = target;
  if (isChannel(jid)) return composePost(jid, send, draft, connection);
  const stored = send.replyTo === '' ? null : await connection.stored(send.replyTo);
  const quoted = stored === null ? null : quotable(stored);
  if (send.replyTo !== '' && quoted === null) return refuse('invalid', `the quoted message ${send.replyTo} is unknown`);
  const audience = send.audience ? await audienceOf(send.audience, connection) : null;
  if (audience?.ok === false) return audience;
  const context = await contextOf(jid, send, connection);
  const composer = composerOf(send.content);
  const asked = stored !== null && quoted?.message ? { stored, message: quoted.message } : null;
  const answer = (asked && composer.answer?.(send.content, asked, connection.directory)) ?? null;
  if (answer?.ok === false) return answer;
  const made = answer === null ? await composer.content(send.content, connection, jid) : done(answer.value.message);
  if (!made.ok) return made;
  const full = generateWAMessageFromContent(jid, withSecret(withContext(made.value, context)), {
    userJid: connection.directory.me.pn,
    messageId: draft?.messageId ?? newMessageId(),
    // A vote has no quote, because it names its poll.
    ...(quoted === null || made.value.pollUpdateMessage ? {} : { quoted }),
  });
  const record = recordOf(full, connection.directory, composer.recorded?.(send.content, made.value));
  if (!record.ok) return record;
  const vote = answer === null ? {} : { vote: answer.value.vote };
  return done({ ...record.value, ...idsOf(draft), ...vote, ...(audience && { audience: audience.value }) });
};

/** Composes a message without a connection, as far as possible. `raw` is null if the message must be composed again on a connection. */
export const draft = (send: Send, directory: Directory): Result<Message> => {
  const target = resolveTarget(send.number);
  if (!target.ok) return refuse('invalid', target.message);
  const composer = composerOf(send.content);
  const options = { userJid: directory.me.pn, messageId: newMessageId() };
  const made = composer.draft(send.content);
  const isPost = isChannel(target.jid);
  const full = generateWAMessageFromContent(target.jid, isPost ? made : withSecret(made), options);
  const record = recordOf(full, directory, composer.recorded?.(send.content, made));
  if (!record.ok) return record;
  const complete =
    composer.isComplete(send.content) && send.replyTo === '' && send.mentions.length === 0 && !send.forward && !send.audience;
  return done({ ...record.value, ...(complete ? {} : { raw: null }), ...(isPost ? { post: newPost } : {}) });
};

/**
 * Updates the disappearing timer of a queued message before the send. A message that was composed without a connection has no timer, and the timer of the
 * chat may have changed. Returns the same message if nothing changes.
 */
export const timed = async (message: Message, connection: LiveConnection): Promise<Message> => {
  const content = contentOf(message);
  if (message.queuedSend === null || content === null) return message;
  const expiration = await connection.timer(message.chatId);
  const holder = holderIn(content);
  if (holder === null || expiration === (holder.contextInfo?.expiration ?? 0)) return message;
  const { directory } = connection;
  const options = { userJid: directory.me.pn, messageId: message.messageId };
  const full = generateWAMessageFromContent(message.chatId, withContext(content, { expiration }), options);
  const record = recordOf(full, directory);
  return record.ok ? { ...message, content: record.value.content, raw: record.value.raw } : message;
};
