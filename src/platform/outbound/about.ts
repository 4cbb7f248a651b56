/** Messages about a stored message: reactions, edits, deletions, pins. Each goes to the same chat as a message of its own. */
import { generateWAMessageFromContent, type proto, type WAMessageKey } from '@whiskeysockets/baileys';
import { done, type Entry, type Message, progress, refuse, type Result } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import type { LiveConnection } from './live-connection.ts';
import { fromMessage } from '../events/from-messages.ts';
import { isChannel, isGroup } from '../wire/jid.ts';
import { answered } from '../wire/outcomes.ts';
import { newMessageId } from './compose.ts';
import { relayReaction } from './posts.ts';
import { relay } from './relay.ts';
import type { Transmission } from './transmissions.ts';

/** The content of the message, or the reason why there is none. */
export type About = proto.IMessage | string;

export interface Target {
  /** The message as it is stored. */
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

/** Refusals of a message that cannot be a target: it never reached the platform, or is gone. */
const unreachable: Readonly<Partial<Record<Message['status'], string>>> = {
  Queued: 'the message was not sent yet',
  Failed: 'the message was not sent',
  Canceled: 'the message was not sent',
  Deleted: 'the message was deleted',
};

/** Finds a message by any form of its id. Refused when there is none, or the platform has none. */
export const targetOf = async (connection: LiveConnection, id: string): Promise<Result<Message>> => {
  const target = await connection.stored(id);
  if (target === null) return refuse('notFound', 'Message not found');
  const reason = unreachable[target.status];
  return reason === undefined ? done(target) : refuse('invalid', reason);
};

/** Posts of channels are reacted to by their number; nothing else about them is a message of its own. */
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
 * Sends the message that `about` makes of another message, and waits for its ack. Returns the sent message; null if it is none of its own (a deletion).
 * `entries` record it and its effects, as for messages that other devices of the account write.
 */
export const sendAbout = async (
  connection: LiveConnection,
  target: Message,
  about: (target: Target) => About | Promise<About>,
): Promise<Outcome<{ readonly target: Message; readonly sent: Message | null }>> => {
  const content = await about({ message: target, key: keyOf(target) });
  if (typeof content === 'string') return refuse('invalid', content);
  const { directory } = connection;
  await connection.learn([target.chatId]);
  const messageId = newMessageId();
  const full = generateWAMessageFromContent(target.chatId, content, { userJid: directory.me.pn, messageId });
  const entries = fromMessage(full, directory, '', { wasSentByApi: true, status: 'Queued' });
  const made = entries.find((entry) => entry.kind === 'message');
  // A receipt may come right behind the ack: the message is on record before it leaves.
  if (made) connection.record([{ kind: 'queued', message: made.message, chat: made.chat }]);
  const transmitted = await transmit(connection, target, messageId, full.message ?? {});
  if (!transmitted.ok) {
    if (made) connection.record([progress(made.message, 'Failed', directory.now(), transmitted.refusal.message)]);
    return transmitted;
  }
  if (!made) return answered({ target, sent: null }, entries);
  return answered({ target, sent: { ...made.message, status: 'Sent' } }, [sentEntry(made.message, transmitted.value.at, made.revises)]);
};

/** The answer of an operation whose message is one of its own. */
export const sentMessage = (outcome: Awaited<ReturnType<typeof sendAbout>>): Outcome<Message> => {
  if (!outcome.ok) return outcome;
  const { sent } = outcome.value;
  return sent ? answered(sent, outcome.entries) : refuse('invalid', 'the message is empty');
};
