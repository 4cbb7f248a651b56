/** Converts arriving channel posts, with their edits, deletions, views and reactions. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto, type WAMessage } from '@whiskeysockets/baileys';
import { type Entry, type ListedPost, newPost, type PostCounts } from '#actors/model.ts';
import { bare, type Directory } from '../wire/jid.ts';
import { fromMessage } from './from-messages.ts';
import { contentJson } from './library-values.ts';

// The platform's form of posts, which is the same in single stanzas, in lists and in live updates.

const whole = (text: string | undefined): number => {
  const number = Number(text ?? '');
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
};

const serverIdOf = ({ attrs }: BinaryNode): number => whole(attrs['server_id']);

/** Returns the time of the last edit, in Unix milliseconds; 0 without an edit. */
const editedAt = (node: BinaryNode): number => whole(getBinaryNodeChild(node, 'meta')?.attrs['msg_edit_t']);

/** Decodes the content of a post. Returns null if it is missing, as in a deleted post, or if it cannot be decoded. */
export const postContent = (node: BinaryNode): proto.IMessage | null => {
  const content = getBinaryNodeChild(node, 'plaintext')?.content;
  if (!(content instanceof Uint8Array) || content.length === 0) return null;
  try {
    return proto.Message.decode(content);
  } catch {
    return null;
  }
};

/** Returns the number of views. A post may have two counts, of which apps show the one of type `views`. */
const viewsIn = (node: BinaryNode): number | null => {
  const counts = getBinaryNodeChildren(node, 'views_count');
  const count = counts.find(({ attrs }) => attrs['type'] === 'views') ?? counts[0];
  return count === undefined ? null : whole(count.attrs['count']);
};

const reactionsIn = (node: BinaryNode): PostCounts['reactions'] => {
  const list = getBinaryNodeChild(node, 'reactions');
  if (list === undefined) return null;
  const reactions = getBinaryNodeChildren(list, 'reaction').filter(({ attrs }) => attrs['code']);
  return Object.fromEntries(new Map(reactions.map(({ attrs }) => [attrs['code'] ?? '', whole(attrs['count'])])));
};

const countsOf = (node: BinaryNode): PostCounts => ({ serverId: serverIdOf(node), views: viewsIn(node), reactions: reactionsIn(node) });

const messagesIn = (list: BinaryNode | undefined): BinaryNode[] =>
  getBinaryNodeChildren(list, 'message').filter((node) => serverIdOf(node) > 0);

/** Returns the posts in a live update. */
const updatedPosts = (notification: BinaryNode): BinaryNode[] =>
  messagesIn(getBinaryNodeChild(getBinaryNodeChild(notification, 'live_updates'), 'messages'));

/** Reads the counts of posts. Posts without counts are omitted. */
const countsIn = (posts: readonly BinaryNode[]): readonly PostCounts[] =>
  posts.map(countsOf).filter(({ views, reactions }) => views !== null || reactions !== null);

/** Returns the posts of an answer, newest first. `parent`: the element with the list. */
export const listedPosts = (parent: BinaryNode | undefined): readonly (ListedPost & { readonly node: BinaryNode })[] =>
  messagesIn(getBinaryNodeChild(parent, 'messages'))
    .map((node) => {
      const { id = '', type = '', t } = node.attrs;
      const content = postContent(node);
      return { ...countsOf(node), messageId: id, type, at: whole(t) * 1000, content: content && contentJson(content), node };
    })
    .toSorted((a, b) => b.serverId - a.serverId);

/** The values of the attribute `edit`. */
const edits = { edited: '3', deleted: '8' } as const;

/**
 * Wraps a post as a message of the library, so that it is converted like all messages. Its author is the channel, because the platform does not name the
 * admin who wrote the post.
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

/** Converts one post. The account's own reactions and votes have no content, and cause no entry. */
const fromPost = (node: BinaryNode, channel: string, directory: Directory): Entry[] => {
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

/** Converts a live update. It has the counts of posts, and the contents of new posts. */
const fromLiveUpdate = (node: BinaryNode, channel: string, directory: Directory): Entry[] => {
  const posts = updatedPosts(node);
  const counts = countsIn(posts);
  const told = posts.flatMap((post) => fromPost(post, channel, directory));
  return counts.length === 0 ? told : [...told, { kind: 'postCounts', chatId: channel, counts }];
};

/** Converts a stanza of a channel: a post, or a live update. */
export const fromChannel = (node: BinaryNode, directory: Directory): Entry[] => {
  const channel = bare(node.attrs['from']);
  return node.tag === 'message' ? fromPost(node, channel, directory) : fromLiveUpdate(node, channel, directory);
};
