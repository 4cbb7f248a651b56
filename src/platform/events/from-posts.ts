/** Posts of channels that arrive, and what becomes of them: other contents, deletions, views and reactions. */
import type { BinaryNode, WAMessage } from '@whiskeysockets/baileys';
import { type Entry, newPost } from '#actors/model.ts';
import type { Directory } from '../wire/directory.ts';
import { bare } from '../wire/jid.ts';
import { fromMessage } from './from-messages.ts';
import { countsIn, editedAt, postContent, serverIdOf, updatedPosts } from './post-nodes.ts';

/** Values of the attribute `edit`. */
const edits = { edited: '3', deleted: '8' } as const;

/**
 * Makes a message of the library, so that a post is converted like every other message. Its author is the channel, because the platform does not name the
 * admin who wrote it.
 */
const messageOf = ({ attrs }: BinaryNode, channel: string, message: WAMessage['message']): WAMessage => ({
  key: { remoteJid: channel, id: attrs['id'] ?? '', fromMe: attrs['is_sender'] === 'true' },
  messageTimestamp: Number(attrs['t'] ?? 0),
  message: message ?? null,
});

const deletion = ({ attrs }: BinaryNode, channel: string, directory: Directory): Entry => ({
  kind: 'deleted',
  messageId: attrs['id'] ?? '',
  chatId: channel,
  sender: channel,
  fromMe: attrs['is_sender'] === 'true',
  at: directory.now(),
});

/** One post; reactions and votes of the account itself have no content, and lead to nothing. */
export const fromPost = (node: BinaryNode, channel: string, directory: Directory): Entry[] => {
  const { id, edit } = node.attrs;
  if (!id) return [];
  if (edit === edits.deleted) return [deletion(node, channel, directory)];
  const content = postContent(node);
  if (content === null) return [];
  const post = { ...newPost, serverId: serverIdOf(node), editedAt: editedAt(node) };
  return fromMessage(messageOf(node, channel, content), directory, '').map((entry) => {
    if (entry.kind !== 'message') return entry;
    const message = { ...entry.message, post };
    return edit === edits.edited ? { kind: 'postEdited', message, chat: entry.chat } : { ...entry, message };
  });
};

/** A live update: posts with their counts, and with their contents where those are new. */
const fromLiveUpdate = (node: BinaryNode, channel: string, directory: Directory): Entry[] => {
  const posts = updatedPosts(node);
  const counts = countsIn(posts);
  const told = posts.flatMap((post) => fromPost(post, channel, directory));
  return counts.length === 0 ? told : [...told, { kind: 'postCounts', chatId: channel, counts }];
};

/** A stanza of a channel: a post, or a notification. */
export const fromChannel = (node: BinaryNode, directory: Directory): Entry[] => {
  const channel = bare(node.attrs['from']);
  return node.tag === 'message' ? fromPost(node, channel, directory) : fromLiveUpdate(node, channel, directory);
};
