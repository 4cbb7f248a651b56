/** Operations on posts of channels. */
import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { type ChangedPost, type Entry, type ListedPost, type PostName, refuse } from '#actors/model.ts';
import type { Outcome, PostOperations, PostSearch } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { listedPosts, postContent } from '../events/from-posts.ts';
import { personServer } from '../wire/jid.ts';
import { answered, refused } from '../wire/outcomes.ts';
import { newMessageId } from '../outbound/compose.ts';
import { deletePost, editPost, type FoundPost, storedPost } from '../outbound/about.ts';
import { relayReaction } from '../outbound/posts.ts';
import type { Transmission } from '../outbound/transmissions.ts';
import type { Handlers } from './requests.ts';
import { type Meanings, meant } from './refusal-words.ts';

const forbidden = refuse('forbidden', 'the account has no right to do this in the channel');

/** The refusals by the platform's code. */
const meanings: Meanings = {
  400: refuse('invalid', 'invalid newsletter id'),
  401: forbidden,
  403: forbidden,
  404: refuse('notFound', 'newsletter or message not found'),
  405: forbidden,
};

const noPost = refuse('notFound', 'newsletter message not found in recent history');

const meantBy = <T>(outcome: Outcome<T>): Outcome<T> =>
  outcome.ok || outcome.refusal.reason !== 'refused' ? outcome : (meanings[outcome.refusal.code ?? 0] ?? outcome);

/** Sends a query. Rejects with every error that is not a refusal of the platform. */
const ask = (connection: LiveConnection, to: string, type: 'get' | 'set', tag: string, attrs: BinaryNode['attrs']) =>
  meant<BinaryNode>(
    connection,
    connection.sock.query({ tag: 'iq', attrs: { to, type, xmlns: 'newsletter' }, content: [{ tag, attrs }] }),
    meanings,
  );

const numbered = (name: string, value: number): BinaryNode['attrs'] => (value > 0 ? { [name]: String(value) } : {});

type Page = Outcome<ReturnType<typeof listedPosts>>;

/** Reads the newest posts. If `before` is above 0, reads the posts before the post with this number. */
const pageOf = async (connection: LiveConnection, channel: string, count: number, before: number): Promise<Page> => {
  const attrs = { type: 'jid', jid: channel, count: String(count), ...numbered('before', before) };
  const answer = await ask(connection, personServer, 'get', 'messages', attrs);
  return answer.ok ? answered(listedPosts(answer.value)) : answer;
};

/** Returns the listed posts without their nodes. The entries update the counts of stored posts. */
const listed = (page: Page, chatId: string): Outcome<readonly ListedPost[]> => {
  if (!page.ok) return page;
  const posts = page.value.map(({ node: _node, ...post }): ListedPost => post);
  const entries: Entry[] = posts.length === 0 ? [] : [{ kind: 'postCounts', chatId, counts: posts }];
  return answered(posts, entries);
};

const found = (channel: string, { messageId, serverId, at, node }: ReturnType<typeof listedPosts>[number]): FoundPost => ({
  channel,
  messageId,
  serverId,
  at,
  content: postContent(node),
});

/** Finds a post. With the number of the post, one query suffices. With its id only, searches the storage, and then the pages of the newest posts. */
const findPost = async (connection: LiveConnection, post: PostName, { count, pages }: PostSearch): Promise<Outcome<FoundPost>> => {
  const { channel, messageId, serverId } = post;
  const isIt = (one: { readonly messageId: string; readonly serverId: number }): boolean =>
    (messageId === '' || one.messageId === messageId) && (serverId === 0 || one.serverId === serverId);
  if (serverId === 0) {
    const stored = await connection.stored(messageId);
    if (stored?.chatId === channel && stored.post?.serverId && stored.status !== 'Deleted') return answered(storedPost(stored));
  }
  const limits = serverId === 0 ? { count, pages, before: 0 } : { count: 1, pages: 1, before: serverId + 1 };
  let { before } = limits;
  for (let read = 0; read < limits.pages; read += 1) {
    const page = await pageOf(connection, channel, limits.count, before);
    if (!page.ok) return page;
    const one = page.value.find(isIt);
    if (one) return one.messageId === '' ? noPost : answered(found(channel, one));
    const last = page.value.at(-1);
    if (last === undefined) return noPost;
    before = last.serverId;
  }
  return noPost;
};

/** Returns the changed post. Its server id comes from the acknowledgement, or from the found post, because an edit keeps the server id. */
const changed = ({ channel, messageId, serverId }: FoundPost, ack: { readonly serverId?: number }): ChangedPost => ({
  target: { channel, messageId, serverId },
  messageId,
  serverId: ack.serverId ?? serverId,
});

export const postHandlers: Handlers<PostOperations> = {
  'post.list': async (connection, { channel, count, before }) => listed(await pageOf(connection, channel, count, before), channel),

  'post.updates': async (connection, { channel, count, after, since }) => {
    const attrs = { count: String(count), ...numbered('after', after), ...numbered('since', since) };
    const answer = await ask(connection, channel, 'get', 'message_updates', attrs);
    if (!answer.ok) return answer;
    return listed(answered(listedPosts(getBinaryNodeChild(answer.value, 'message_updates'))), channel);
  },

  'post.view': async ({ sock }, { channel, serverIds }) => {
    const items = serverIds.map((id): BinaryNode => ({ tag: 'item', attrs: { server_id: String(id) } }));
    const attrs = { to: channel, type: 'view', id: sock.generateMessageTag() };
    const ack = (await sock.query({ tag: 'receipt', attrs, content: [{ tag: 'list', attrs: {}, content: items }] })) as BinaryNode;
    const { error } = ack.attrs;
    return error === undefined ? answered(null) : meantBy(refused(Number(error), `the platform refused it (${error})`));
  },

  'post.react': async (connection, { channel, serverId, text, messageId }) => {
    const sent = await relayReaction(connection, { channel, serverId, text, messageId: messageId || newMessageId() });
    return sent.ok ? answered(null) : meantBy<null>(sent);
  },

  'post.edit': async (connection, { post, search, text, mediaId }) => {
    const target = await findPost(connection, post, search);
    if (!target.ok) return target;
    const edited = await editPost(connection, target.value, { text, mediaId });
    return edited.ok ? answered(changed(target.value, edited.value.sent), edited.entries) : meantBy<ChangedPost>(edited);
  },

  'post.delete': async (connection, { post, search }) => {
    const target = await findPost(connection, post, search);
    if (!target.ok) return target;
    const sent: Transmission = await deletePost(connection, target.value);
    return sent.ok ? answered(changed(target.value, sent.value), sent.entries) : meantBy<ChangedPost>(sent);
  },

  'post.follow': async (connection, { channel }) => {
    const answer = await ask(connection, channel, 'set', 'live_updates', {});
    if (!answer.ok) return answer;
    const { duration } = getBinaryNodeChild(answer.value, 'live_updates')?.attrs ?? {};
    return answered({ seconds: Number(duration ?? 0) || 0 });
  },
};
