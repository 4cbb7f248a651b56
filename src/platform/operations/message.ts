/** Operations on messages. */
import { type Message, refuse } from '#actors/model.ts';
import type { MessageOperations } from '#actors/ports.ts';
import { indexOfChat, starAction } from '../app-state/actions.ts';
import { download } from '../outbound/download.ts';
import { answered, notSent, refused } from '../wire/outcomes.ts';
import {
  deletePost,
  deletion,
  edit,
  editPost,
  keyOf,
  onlyOwn,
  pin,
  reaction,
  sendAbout,
  sentMessage,
  storedPost,
  targetOf,
} from '../outbound/about.ts';
import { compose, contentOf, timed } from '../outbound/compose.ts';
import { relayPost } from '../outbound/posts.ts';
import { relay } from '../outbound/relay.ts';
import { isChannel, isGroup, isLid, isPerson } from '../wire/jid.ts';
import { type Handlers, lidOf } from './requests.ts';

const noStar = 'only messages of chats with people and groups can be starred';

const noNumber = 'the number of this post in its channel is not known';

/** Returns the fields that an edit changes. */
const textOf = ({ text, content, convertOptions, edited }: Message) => ({ text, content, convertOptions, edited });

export const messageHandlers: Handlers<MessageOperations> = {
  'message.compose': (connection, { send, draft }) => compose(send, draft, connection),

  'message.transmit': async (connection, { message: given, to = given.chatId }) => {
    const message = await timed(given, connection);
    const content = contentOf(message);
    if (content === null) return refused(null, 'the stored message cannot be read');
    if (isPerson(to) && connection.directory.lid(to) === '') await connection.loadMappings([to]);
    if (message !== given) connection.record([{ kind: 'composed', message }]);
    if (isChannel(to))
      return relayPost(connection, { channel: to, messageId: message.messageId, content, mediaId: message.post?.mediaId ?? '' });
    return relay(connection, { jid: to, messageId: message.messageId, content, audience: message.audience, stored: message === given });
  },

  'message.react': async (connection, { id, text }) => {
    const target = await targetOf(connection, id);
    if (!target.ok) return target;
    if (isChannel(target.value.chatId) && !target.value.post?.serverId) return refuse('invalid', noNumber);
    return sentMessage(await sendAbout(connection, target.value, (about) => reaction(about, text, connection.directory.now())));
  },

  'message.edit': async (connection, { id, text }) => {
    const target = await targetOf(connection, id);
    if (!target.ok) return target;
    const message = target.value;
    if (!isChannel(message.chatId))
      return sentMessage(await sendAbout(connection, message, (about) => edit(about, text, connection.directory.now())));
    if (!message.fromMe) return refuse('invalid', onlyOwn);
    const edited = await editPost(connection, storedPost(message), { text, mediaId: message.post?.mediaId ?? '' });
    return edited.ok ? answered({ ...message, ...textOf(edited.value.post) }, edited.entries) : edited;
  },

  'message.pin': async (connection, { id, seconds }) => {
    const target = await targetOf(connection, id);
    if (!target.ok) return target;
    const outcome = await sendAbout(connection, target.value, (about) => pin(about, seconds, connection.directory.now()));
    if (!outcome.ok) return outcome;
    const sent = sentMessage(outcome);
    return sent.ok ? answered({ pin: sent.value, messageId: outcome.value.target.messageId }, sent.entries) : sent;
  },

  // The patch records its own entries, like a change by the phone, so this handler returns none.
  'message.star': async (connection, { id, on }) => {
    const target = await targetOf(connection, id);
    if (!target.ok) return target;
    const message = target.value;
    const { chatId, messageType } = message;
    // Calls cannot be starred: phones ignore the star.
    if (messageType === 'call' || !(isGroup(chatId) || isPerson(chatId) || isLid(chatId))) return refuse('invalid', noStar);
    if (isPerson(chatId)) await lidOf(connection, chatId);
    const outcome = await connection.shared.patch([starAction(indexOfChat(connection.directory, chatId), keyOf(message), on)]);
    return outcome.ok ? answered({ ...message, starred: on }) : outcome;
  },

  'message.history': async ({ sock }, { chatId, before, count }) => {
    if (isChannel(chatId)) return refuse('invalid', 'the phone has no past of channels: POST /newsletter/messages reads it');
    const key = { remoteJid: chatId, id: before.messageId, fromMe: before.fromMe };
    // The time is in seconds, although the name of the protocol's field ends with `Ms`.
    return answered({ requestId: await sock.fetchMessageHistory(count, key, Math.floor(before.at / 1000)) });
  },

  'message.delete': async (connection, { id }) => {
    const target = await targetOf(connection, id);
    if (!target.ok) return target;
    const { messageId, chatId } = target.value;
    const sent = isChannel(chatId)
      ? await deletePost(connection, { channel: chatId, messageId })
      : await sendAbout(connection, target.value, (about) => deletion(about, connection));
    return sent.ok ? answered({ messageId, at: connection.directory.now() }, sent.entries) : sent;
  },

  'message.download': async (connection, input, control) => {
    const outcome = await download(connection, input, control);
    if (!outcome.ok && control.signal.aborted) return notSent;
    return outcome;
  },
};
