/** Posts of channels that arrive, and what becomes of them: other contents, deletions, views and reactions. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto, type WAMessage } from '@whiskeysockets/baileys';
import { type Entry, type ListedPost, newPost, type PostCounts } from '#actors/model.ts';
import { bare, type Directory } from '../wire/jid.ts';
import { fromMessage } from './from-messages.ts';
import { contentJson } from './library-values.ts';

// Posts of channels as the platform writes them: alike in stanzas of their own, in lists, and in live updates.

const whole = (text: string | undefined): number => {
  const number = Number(text ?? '');
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
};

const serverIdOf = ({ attrs }: BinaryNode): number => whole(attrs['server_id']);

/** Unix milliseconds of the last edit; 0 for none. */
const editedAt = (node: BinaryNode): number => whole(getBinaryNodeChild(node, 'meta')?.attrs['msg_edit_t']);

/** Null where there is none, as in a post that was taken back, and where it cannot be read. */
export const postContent = (node: BinaryNode): proto.IMessage | null => {
  const content = getBinaryNodeChild(node, 'plaintext')?.content;
  if (!(content instanceof Uint8Array) || content.length === 0) return null;
  try {
    return proto.Message.decode(content);
  } catch {
    return null;
  }
};

/** A post may have two counts. Apps show the count of kind `views`. */
const viewsIn = (node: BinaryNode): number | null => {
  const counts = getBinaryNodeChildren(node, 'views_count');
  const count = counts.find(({ attrs }) => attrs['type'] === 'views') ?? counts[0];
  return count === undefined ? null : whole(count.attrs['count']);
};

const reactionsIn = (node: BinaryNode): PostCounts['reactions'] => {
  const list = getBinaryNodeChild(node, 'reactions');
  if (list === undefined) return null;
  const reactions = getBinaryNodeChildren(list, 'reaction').filter(({ attrs }) => attrs['code']);
  // A map first: the platform names the keys.
  return Object.fromEntries(new Map(reactions.map(({ attrs }) => [attrs['code'] ?? '', whole(attrs['count'])])));
};

const countsOf = (node: BinaryNode): PostCounts => ({ serverId: serverIdOf(node), views: viewsIn(node), reactions: reactionsIn(node) });

const messagesIn = (list: BinaryNode | undefined): BinaryNode[] =>
  getBinaryNodeChildren(list, 'message').filter((node) => serverIdOf(node) > 0);

/** Posts in a live update. */
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

/** Translates one post. Reactions and votes of the account itself have no content and make no entry. */
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
