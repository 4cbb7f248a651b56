/** Operations on messages. */
import type { MessageOperations } from '#actors/ports.ts';
import { download } from '../media/download.ts';
import { answered, notSent, refused } from '../outcomes.ts';
import { sendAbout, sentMessage } from '../outbound/about.ts';
import { compose, contentOf, timed } from '../outbound/compose.ts';
import { relay } from '../outbound/relay.ts';
import { deletion, edit, pin, reaction } from '../outbound/revisions.ts';
import { isPerson } from '../jid.ts';
import type { Handlers } from './handlers.ts';

export const messageHandlers: Handlers<MessageOperations> = {
  'message.compose': (connection, { send, draft }) => compose(send, draft, connection),

  'message.transmit': async (connection, { message: given, to = given.chatId }) => {
    const message = await timed(given, connection);
    const content = contentOf(message);
    if (content === null) return refused(null, 'the stored message cannot be read');
    if (isPerson(to) && connection.directory.lid(to) === '') await connection.learn([to]);
    if (message !== given) connection.record([{ kind: 'composed', message }]);
    return relay(connection, { jid: to, messageId: message.messageId, content, audience: message.audience, stored: message === given });
  },

  'message.react': async (connection, { id, text }) =>
    sentMessage(await sendAbout(connection, id, (target) => reaction(target, text, connection.directory.now()))),

  'message.edit': async (connection, { id, text }) =>
    sentMessage(await sendAbout(connection, id, (target) => edit(target, text, connection.directory.now()))),

  'message.pin': async (connection, { id, seconds }) => {
    const outcome = await sendAbout(connection, id, (target) => pin(target, seconds, connection.directory.now()));
    if (!outcome.ok) return outcome;
    const sent = sentMessage(outcome);
    return sent.ok ? answered({ pin: sent.value, messageId: outcome.value.target.messageId }, sent.entries) : sent;
  },

  'message.history': async ({ sock }, { chatId, before, count }) => {
    const key = { remoteJid: chatId, id: before.messageId, fromMe: before.fromMe };
    // Seconds, whatever the field is called.
    return answered({ requestId: await sock.fetchMessageHistory(count, key, Math.floor(before.at / 1000)) });
  },

  'message.delete': async (connection, { id }) => {
    const sent = await sendAbout(connection, id, (target) => deletion(target, connection));
    return sent.ok ? answered({ messageId: sent.value.target.messageId, at: connection.directory.now() }, sent.entries) : sent;
  },

  'message.download': async (connection, input, control) => {
    const outcome = await download(connection, input, control);
    if (!outcome.ok && control.signal.aborted) return notSent;
    return outcome;
  },
};
