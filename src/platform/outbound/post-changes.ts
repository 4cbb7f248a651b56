/** Changes of a channel post that is stored or was listed: edit, deletion, reaction. */
import { generateWAMessageFromContent, type proto } from '@whiskeysockets/baileys';
import { type Entry, type Message, newPost, refuse } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import type { LiveConnection } from './live-connection.ts';
import { fromMessage } from '../events/from-messages.ts';
import { answered } from '../wire/outcomes.ts';
import { contentOf } from './compose.ts';
import { relayDeletion, relayEdit } from './posts.ts';
import { withOtherText } from './revisions.ts';
import type { Transmission } from './transmissions.ts';

/** A post with its content. */
export interface FoundPost {
  readonly channel: string;
  readonly messageId: string;
  readonly serverId: number;
  readonly content: proto.IMessage | null;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Milliseconds after which the platform's apps offer no edit of a post any more. */
const editWindow = 30 * 86_400_000;

export const storedPost = (message: Message): FoundPost => ({
  channel: message.chatId,
  messageId: message.messageId,
  serverId: message.post?.serverId ?? 0,
  content: contentOf(message),
  at: message.timestamp,
});

/** The post as it is after the edit, to be stored. */
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

/** `mediaId`: of the uploaded file that takes the place of the former one; '' for none. Answers with the post as it is now. */
export const editPost = async (
  connection: LiveConnection,
  post: FoundPost,
  { text, mediaId }: { readonly text: string; readonly mediaId: string },
): Promise<Outcome<{ readonly post: Message; readonly sent: Extract<Transmission, { ok: true }>['value'] }>> => {
  if (connection.directory.now() - post.at > editWindow) return refuse('invalid', 'a post can be edited for 30 days after it was sent');
  const content = post.content && withOtherText(post.content, text);
  if (!content) return refuse('invalid', 'only texts and captions can be edited');
  const sent = await relayEdit(connection, { ...post, content, mediaId });
  if (!sent.ok) return sent;
  const entry = editedEntry(post, content, connection);
  return entry ? answered({ post: entry.message, sent: sent.value }, [entry]) : refuse('invalid', 'the message is empty');
};

/** Any admin of the channel may do it; the platform refuses everybody else. */
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
