/** Messages about a stored message: reactions, edits, deletions. Each goes to the same chat as a message of its own. */
import { type AnyMessageContent, generateWAMessage, type WAMessageKey } from '@whiskeysockets/baileys';
import { type Message, progress, refuse } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../connection/live-connection.ts';
import { fromMessage } from '../events/from-messages.ts';
import { isGroup } from '../jid.ts';
import { answered } from '../outcomes.ts';
import { newMessageId } from './compose.ts';
import { noUpload } from './composer.ts';
import { relay } from './relay.ts';

export interface About {
  readonly content: AnyMessageContent;
}

/** How the platform names a stored message. */
const keyOf = (message: Message): WAMessageKey => ({
  remoteJid: message.chatId,
  id: message.messageId,
  fromMe: message.fromMe,
  ...(isGroup(message.chatId) && !message.fromMe ? { participant: message.sender } : {}),
});

/**
 * Finds the message by any form of its id, sends what `about` makes of it, and waits for the ack. Answers with the message that was sent, null when
 * it is none of its own (a deletion); `entries` record it as they do for what other devices of the account write.
 */
export const sendAbout = async (
  connection: LiveConnection,
  id: string,
  about: (message: Message, key: WAMessageKey) => About | string,
): Promise<Outcome<{ readonly target: Message; readonly sent: Message | null }>> => {
  const target = await connection.stored(id);
  if (target === null) return refuse('notFound', 'Message not found');
  const given = about(target, keyOf(target));
  if (typeof given === 'string') return refuse('invalid', given);
  const { directory } = connection;
  await connection.learn([target.chatId]);
  const options = { userJid: directory.me.pn, messageId: newMessageId(), upload: noUpload };
  const full = await generateWAMessage(target.chatId, given.content, options);
  const entries = fromMessage(full, directory, '', { wasSentByApi: true, status: 'Queued' });
  const made = entries.find((entry) => entry.kind === 'message');
  // A receipt may come right behind the ack: the message is on record before it leaves.
  if (made) connection.record([{ kind: 'queued', message: made.message, chat: made.chat }]);
  const transmitted = await relay(connection, {
    jid: target.chatId,
    messageId: options.messageId,
    content: full.message ?? {},
  });
  if (!transmitted.ok) {
    if (made) connection.record([progress(made.message, 'Failed', directory.now(), transmitted.refusal.message)]);
    return transmitted;
  }
  if (!made) return answered({ target, sent: null }, entries);
  return answered({ target, sent: { ...made.message, status: 'Sent' } }, [progress(made.message, 'Sent', transmitted.value.at)]);
};

/** The answer of an operation whose message is one of its own. */
export const sentMessage = (outcome: Awaited<ReturnType<typeof sendAbout>>): Outcome<Message> => {
  if (!outcome.ok) return outcome;
  const { sent } = outcome.value;
  return sent ? answered(sent, outcome.entries) : refuse('invalid', 'the message is empty');
};
