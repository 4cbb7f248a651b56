/** Posts of channels as the platform writes them: alike in stanzas of their own, in lists, and in live updates. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from '@whiskeysockets/baileys';
import type { ListedPost, PostCounts } from '#actors/model.ts';
import { contentJson } from './content-json.ts';

const whole = (text: string | undefined): number => {
  const number = Number(text ?? '');
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
};

export const serverIdOf = ({ attrs }: BinaryNode): number => whole(attrs['server_id']);

/** Unix milliseconds of the last edit; 0 for none. */
export const editedAt = (node: BinaryNode): number => whole(getBinaryNodeChild(node, 'meta')?.attrs['msg_edit_t']);

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

/** Two counts may stand beside each other; that of kind `views` is the one that apps show. */
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
export const updatedPosts = (notification: BinaryNode): BinaryNode[] =>
  messagesIn(getBinaryNodeChild(getBinaryNodeChild(notification, 'live_updates'), 'messages'));

/** Reads the counts of posts. Posts without counts are omitted. */
export const countsIn = (posts: readonly BinaryNode[]): readonly PostCounts[] =>
  posts.map(countsOf).filter(({ views, reactions }) => views !== null || reactions !== null);

/** The posts of an answer, newest first. `parent`: the element that has the list. */
export const listedPosts = (parent: BinaryNode | undefined): readonly (ListedPost & { readonly node: BinaryNode })[] =>
  messagesIn(getBinaryNodeChild(parent, 'messages'))
    .map((node) => {
      const { id = '', type = '', t } = node.attrs;
      const content = postContent(node);
      return { ...countsOf(node), messageId: id, type, at: whole(t) * 1000, content: content && contentJson(content), node };
    })
    .toSorted((a, b) => b.serverId - a.serverId);
