/** Operations on messages. */
import { type AnyMessageContent, generateWAMessage, type WAMessageKey } from '@whiskeysockets/baileys';
import { type Message, refuse } from '#actors/model.ts';
import type { MessageOperations, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../connection/live-connection.ts';
import { fromMessage } from '../events/from-messages.ts';
import { isGroup } from '../jid.ts';
import { answered, refused } from '../outcomes.ts';
import { compose, contentOf, newMessageId } from '../outbound/compose.ts';
import { relay } from '../outbound/relay.ts';
import type { Handlers } from './handlers.ts';

const unknownMessage = refuse('notFound', 'Message not found');

/** How the platform names a stored message. */
const keyOf = (message: Message): WAMessageKey => ({
  remoteJid: message.chatId,
  id: message.messageId,
  fromMe: message.fromMe,
  ...(isGroup(message.chatId) && !message.fromMe ? { participant: message.sender } : {}),
});

/** Sends something about a stored message, as a message of its own to the same chat; answers with it and the entries that record it. */
const sendAbout = async (
  connection: LiveConnection,
  { chatId }: Message,
  content: AnyMessageContent,
  edit?: string,
): Promise<Outcome<Message | null>> => {
  const { directory } = connection;
  await connection.learn([chatId]);
  const upload = (): Promise<never> => Promise.reject(new Error('nothing is uploaded here'));
  const full = await generateWAMessage(chatId, content, { userJid: directory.me.pn, messageId: newMessageId(), upload });
  const sent = await relay(connection, {
    jid: chatId,
    messageId: full.key.id ?? '',
    content: full.message ?? {},
    ...(edit === undefined ? {} : { attributes: { edit } }),
  });
  if (!sent.ok) return sent;
  // The library does not echo own messages: the same conversion as for what other devices write.
  const entries = fromMessage(full, directory, '', { wasSentByApi: true, status: 'Sent' });
  const recorded = entries.find((entry) => entry.kind === 'message');
  return answered(recorded?.message ?? null, entries);
};

const asMessage = (outcome: Outcome<Message | null>): Outcome<Message> =>
  outcome.ok && outcome.value === null ? refuse('invalid', 'the message is empty') : (outcome as Outcome<Message>);

export const messageHandlers: Handlers<MessageOperations> = {
  'message.compose': (connection, { send, draft }) => compose(send, draft, connection),

  'message.transmit': async (connection, { message }) => {
    const content = contentOf(message);
    if (content === null) return refused(null, 'the stored message cannot be read');
    return relay(connection, { jid: message.chatId, messageId: message.messageId, content });
  },

  'message.react': async (connection, { id, text }) => {
    const message = await connection.stored(id);
    return message ? asMessage(await sendAbout(connection, message, { react: { text, key: keyOf(message) } })) : unknownMessage;
  },

  'message.edit': async (connection, { id, text }) => {
    const message = await connection.stored(id);
    if (!message) return unknownMessage;
    if (!message.fromMe) return refuse('invalid', 'only own messages can be edited');
    return asMessage(await sendAbout(connection, message, { text, linkPreview: null, edit: keyOf(message) }, '1'));
  },

  'message.delete': async (connection, { id }) => {
    const message = await connection.stored(id);
    if (!message) return unknownMessage;
    if (!message.fromMe && !isGroup(message.chatId)) return refuse('invalid', 'only own messages can be deleted for everybody');
    const sent = await sendAbout(connection, message, { delete: keyOf(message) }, message.fromMe ? '7' : '8');
    return sent.ok ? { ...sent, value: { messageId: message.messageId, at: connection.directory.now() } } : sent;
  },
};
