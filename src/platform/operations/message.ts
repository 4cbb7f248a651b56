/** Operations on messages. */
import type { MessageOperations } from '#actors/ports.ts';
import { answered, refused } from '../outcomes.ts';
import { sendAbout, sentMessage } from '../outbound/about.ts';
import { compose, contentOf } from '../outbound/compose.ts';
import { relay } from '../outbound/relay.ts';
import type { Handlers } from './handlers.ts';

export const messageHandlers: Handlers<MessageOperations> = {
  'message.compose': (connection, { send, draft }) => compose(send, draft, connection),

  'message.transmit': async (connection, { message }) => {
    const content = contentOf(message);
    if (content === null) return refused(null, 'the stored message cannot be read');
    return relay(connection, { jid: message.chatId, messageId: message.messageId, content });
  },

  'message.react': async (connection, { id, text }) =>
    sentMessage(await sendAbout(connection, id, (_, key) => ({ content: { react: { text, key } } }))),

  'message.edit': async (connection, { id, text }) =>
    sentMessage(
      await sendAbout(connection, id, ({ fromMe }, edit) =>
        fromMe ? { content: { text, linkPreview: null, edit } } : 'only own messages can be edited',
      ),
    ),

  'message.delete': async (connection, { id }) => {
    const sent = await sendAbout(connection, id, ({ fromMe, isGroup }, key) => {
      if (!fromMe && !isGroup) return 'only own messages can be deleted for everybody';
      return { content: { delete: key } };
    });
    return sent.ok ? answered({ messageId: sent.value.target.messageId, at: connection.directory.now() }, sent.entries) : sent;
  },
};
