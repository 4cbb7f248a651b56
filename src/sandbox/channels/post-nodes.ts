/** Posts in lists and in live updates. */
import { proto } from '@whiskeysockets/baileys';
import { stanzaKind } from '../content.ts';
import type { Digits } from '../face.ts';
import { node, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Post } from '../store/posts.ts';

const contentNodes = ({ content, editedAt, at }: Post): BinaryNode[] => {
  if (!content) return [];
  const { mediatype } = stanzaKind(content);
  const times = { original_msg_t: unixSeconds(at), msg_edit_t: String(editedAt) };
  return [node('plaintext', { mediatype }, proto.Message.encode(content).finish()), ...(editedAt > 0 ? [node('meta', times)] : [])];
};

const headOf = ({ id, at, author, content, editedAt }: Post, viewer: Digits) => ({
  id,
  t: unixSeconds(at),
  type: stanzaKind(content ?? {}).type,
  edit: content ? (editedAt > 0 ? '3' : undefined) : '8',
  is_sender: author === viewer ? 'true' : undefined,
});

/** `whole`: with the content, `counts`: the number, views and reactions alone. */
export const listed = ({ posts }: Pick<Parts, 'posts'>, post: Post, viewer: Digits, what: 'whole' | 'counts'): BinaryNode => {
  const { views, reactions } = posts.counts(post);
  const codes = Object.entries(reactions).map(([code, count]) => node('reaction', { code, count: String(count) }));
  const counts = [node('views_count', { count: String(views), type: 'views' }), node('reactions', {}, codes)];
  const serverId = String(post.serverId);
  if (what === 'counts') return node('message', { server_id: serverId }, counts);
  return node('message', { server_id: serverId, ...headOf(post, viewer) }, [...contentNodes(post), ...counts]);
};
