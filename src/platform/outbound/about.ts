/** Sends messages about a stored message: reactions, edits, deletions and pins. Each is a separate message to the same chat. */
import { generateWAMessageFromContent, proto, type WAMessageKey } from '@whiskeysockets/baileys';
import { done, type Entry, includesPerson, type Message, newPost, progress, refuse, type Result } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import { fromMessage } from '../events/from-messages.ts';
import { withOtherText } from '../events/message-kinds.ts';
import { isChannel, isGroup } from '../wire/jid.ts';
import { answered, ifKnown } from '../wire/outcomes.ts';
import { contentOf, newMessageId } from './compose.ts';
import type { LiveConnection } from './live-connection.ts';
import { relayDeletion, relayEdit, relayReaction } from './posts.ts';
import { relay } from './relay.ts';
import type { Transmission } from './transmissions.ts';

/** The content of a message about a stored message, or the reason for which the message cannot be sent. */
type About = proto.IMessage | string;

interface Target {
  /** The stored message. */
  readonly message: Message;
  /** The platform's key of the message. */
  readonly key: WAMessageKey;
}

/** Returns the platform's key of a stored message. */
export const keyOf = (message: Message): WAMessageKey => ({
  remoteJid: message.chatId,
  id: message.messageId,
  fromMe: message.fromMe,
  ...(isGroup(message.chatId) && !message.fromMe ? { participant: message.sender } : {}),
});

/** Refusals by the status of a message that cannot be a target. Such a message never reached the platform, or was deleted. */
const unreachable: Readonly<Partial<Record<Message['status'], string>>> = {
  Queued: 'the message was not sent yet',
  Failed: 'the message was not sent',
  Canceled: 'the message was not sent',
  Deleted: 'the message was deleted',
};

/** Finds a message by any form of its id. Refuses if it does not exist, or if the platform does not have it. */
export const targetOf = async (connection: LiveConnection, id: string): Promise<Result<Message>> => {
  const target = await connection.stored(id);
  if (target === null) return refuse('notFound', 'Message not found');
  const reason = unreachable[target.status];
  return reason === undefined ? done(target) : refuse('invalid', reason);
};

/** Sends the message. In a channel the message must be a reaction, because all other changes of posts are not separate messages. */
const transmit = (connection: LiveConnection, target: Message, messageId: string, content: proto.IMessage): Promise<Transmission> => {
  if (!isChannel(target.chatId)) return relay(connection, { jid: target.chatId, messageId, content, audience: target.audience });
  const { serverId = 0 } = target.post ?? {};
  const { text } = content.reactionMessage ?? {};
  return relayReaction(connection, { channel: target.chatId, messageId, serverId, text: text ?? '' });
};

const sentEntry = (message: Message, at: number, revises: Extract<Entry, { kind: 'message' }>['revises']): Entry => ({
  ...(progress(message, 'Sent', at) as Extract<Entry, { kind: 'status' }>),
  ...(revises ? { revises } : {}),
});

/**
 * Sends the message that `about` builds for a target, and waits for its acknowledgement. Returns the sent message; null if it is not stored (a deletion).
 * `entries` record the message and its effects, as for messages of the account's other devices.
 */
export const sendAbout = async (
  connection: LiveConnection,
  target: Message,
  about: (target: Target) => About | Promise<About>,
): Promise<Outcome<{ readonly target: Message; readonly sent: Message | null }>> => {
  const content = await about({ message: target, key: keyOf(target) });
  if (typeof content === 'string') return refuse('invalid', content);
  const { directory } = connection;
  await connection.loadMappings([target.chatId]);
  const messageId = newMessageId();
  const full = generateWAMessageFromContent(target.chatId, content, { userJid: directory.me.pn, messageId });
  const entries = fromMessage(full, directory, '', { wasSentByApi: true, status: 'Queued' });
  const made = entries.find((entry) => entry.kind === 'message');
  // The message is recorded before it leaves, because a receipt may arrive directly after the acknowledgement.
  if (made) connection.record([{ kind: 'queued', message: made.message, chat: made.chat }]);
  const transmitted = await transmit(connection, target, messageId, full.message ?? {});
  if (!transmitted.ok) {
    if (made) connection.record([progress(made.message, 'Failed', directory.now(), transmitted.refusal.message)]);
    return transmitted;
  }
  if (!made) return answered({ target, sent: null }, entries);
  return answered({ target, sent: { ...made.message, status: 'Sent' } }, [sentEntry(made.message, transmitted.value.at, made.revises)]);
};

/** Converts the outcome of `sendAbout` into an outcome with the sent message. Not for deletions, which are not stored as messages. */
export const sentMessage = (outcome: Awaited<ReturnType<typeof sendAbout>>): Outcome<Message> => {
  if (!outcome.ok) return outcome;
  const { sent } = outcome.value;
  return sent ? answered(sent, outcome.entries) : refuse('invalid', 'the message is empty');
};

// The contents of messages about another message, or the reasons for which they cannot be sent.

const { Type } = proto.Message.ProtocolMessage;
const { Type: PinType } = proto.Message.PinInChatMessage;

/** The age of a message from which the platform's apps offer no edit. Recipients ignore an edit that arrives much later. In milliseconds. */
const editWindow = 15 * 60_000;

export const reaction = ({ key }: Target, text: string, now: number): About => ({
  reactionMessage: { key, text, senderTimestampMs: now },
});

export const onlyOwn = 'only own messages can be edited';

export const edit = ({ message, key }: Target, text: string, now: number): About => {
  if (!message.fromMe) return onlyOwn;
  if (now - message.timestamp > editWindow) return 'a message can be edited for 15 minutes after it was sent';
  const editedMessage = message.raw === null ? null : withOtherText(proto.Message.decode(message.raw), text);
  if (editedMessage === null) return 'only texts and captions can be edited';
  return { protocolMessage: { key, type: Type.MESSAGE_EDIT, editedMessage, timestampMs: now } };
};

/** Returns true if the account is known not to be an admin of the group. */
const isPlainMember = async (connection: LiveConnection, group: string): Promise<boolean> => {
  const me = { ...connection.directory.me, id: '' };
  const own = (await ifKnown(connection.group(group)))?.members.find((member) => includesPerson([member], me));
  return own !== undefined && !own.isAdmin;
};

export const deletion = async ({ message, key }: Target, connection: LiveConnection): Promise<About> => {
  if (!message.fromMe && !message.isGroup) return 'only own messages can be deleted for everybody';
  if (!message.fromMe && (await isPlainMember(connection, message.chatId))) return 'only admins of the group can delete what others wrote';
  return { protocolMessage: { key, type: Type.REVOKE } };
};

/** Builds a pin. `seconds`: its duration; 0 removes the pin. */
export const pin = ({ message, key }: Target, seconds: number, now: number): About => {
  if (isChannel(message.chatId)) return 'message pinning is not supported for newsletters';
  const type = seconds > 0 ? PinType.PIN_FOR_ALL : PinType.UNPIN_FOR_ALL;
  return {
    pinInChatMessage: { key, type, senderTimestampMs: now },
    messageContextInfo: { messageAddOnDurationInSecs: seconds },
  };
};

// Edits and deletions of channel posts. A post comes from the storage, or from a list of the platform.

/** A post with its content. */
export interface FoundPost {
  readonly channel: string;
  readonly messageId: string;
  readonly serverId: number;
  readonly content: proto.IMessage | null;
  /** The time of the post, in Unix milliseconds. */
  readonly at: number;
}

/** The age of a post from which the platform's apps offer no edit. In milliseconds. */
const postEditWindow = 30 * 86_400_000;

export const storedPost = (message: Message): FoundPost => ({
  channel: message.chatId,
  messageId: message.messageId,
  serverId: message.post?.serverId ?? 0,
  content: contentOf(message),
  at: message.timestamp,
});

/** Builds the entry that stores an edited post. */
const editedEntry = (
  post: FoundPost,
  content: proto.IMessage,
  { directory }: LiveConnection,
): Extract<Entry, { kind: 'postEdited' }> | null => {
  const { channel, messageId, serverId, at } = post;
  const full = generateWAMessageFromContent(channel, content, { userJid: directory.me.pn, messageId, timestamp: new Date(at) });
  const [entry] = fromMessage(full, directory, '', { status: 'Sent' });
  if (entry?.kind !== 'message') return null;
  return {
    kind: 'postEdited',
    message: { ...entry.message, edited: messageId, post: { ...newPost, serverId } },
    chat: { chatId: channel },
  };
};

/** Edits a post, and returns the edited post. `mediaId`: the id of the uploaded file that replaces the former one; '' for none. */
export const editPost = async (
  connection: LiveConnection,
  post: FoundPost,
  { text, mediaId }: { readonly text: string; readonly mediaId: string },
): Promise<Outcome<{ readonly post: Message; readonly sent: Extract<Transmission, { ok: true }>['value'] }>> => {
  if (connection.directory.now() - post.at > postEditWindow) return refuse('invalid', 'a post can be edited for 30 days after it was sent');
  const content = post.content && withOtherText(post.content, text);
  if (!content) return refuse('invalid', 'only texts and captions can be edited');
  const sent = await relayEdit(connection, { ...post, content, mediaId });
  if (!sent.ok) return sent;
  const entry = editedEntry(post, content, connection);
  return entry ? answered({ post: entry.message, sent: sent.value }, [entry]) : refuse('invalid', 'the message is empty');
};

/** Deletes a post. Any admin of the channel may do so. The platform refuses other people. */
export const deletePost = async (
  connection: LiveConnection,
  { channel, messageId }: Pick<FoundPost, 'channel' | 'messageId'>,
): Promise<Transmission> => {
  const sent = await relayDeletion(connection, { channel, messageId });
  if (!sent.ok) return sent;
  const { me, now } = connection.directory;
  const by = { sender: me.pn, senderPn: me.pn, senderLid: me.lid, fromMe: true };
  return answered(sent.value, [{ kind: 'deleted', messageId, chatId: channel, ...by, at: now() }]);
};
