/**
 * Actions of people and clients on channel posts: the rights, the change, and the notifications. Posts reach the followers without
 * encryption.
 */
import { proto } from '@whiskeysockets/baileys';
import { stanzaKind } from '../content.ts';
import { type Digits, SandboxError } from '../interface.ts';
import { type BinaryNode, node, unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device, Person } from '../people.ts';
import type { Post } from '../store/messages.ts';
import { asAdmin } from './actions.ts';
import type { Channel } from './channels.ts';

// Posts in lists and in live updates.

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

/** Makes the node of a post. With `whole`, the node includes the content. With `counts`, it has only the server id, the views and the reactions. */
export const listed = ({ posts }: Pick<Parts, 'posts'>, post: Post, viewer: Digits, what: 'whole' | 'counts'): BinaryNode => {
  const { views, reactions } = posts.counts(post);
  const codes = Object.entries(reactions).map(([code, count]) => node('reaction', { code, count: String(count) }));
  const counts = [node('views_count', { count: String(views), type: 'views' }), node('reactions', {}, codes)];
  const serverId = String(post.serverId);
  if (what === 'counts') return node('message', { server_id: serverId }, counts);
  return node('message', { server_id: serverId, ...headOf(post, viewer) }, [...contentNodes(post), ...counts]);
};

/** The account that makes a change. `device` is the linked device that makes it and needs no notification; absent for the phone. */
export type By = Pick<Device, 'number'> & Partial<Pick<Device, 'device'>>;

/** The duration of a subscription to live updates. In seconds. */
export const liveSeconds = 300;
/** The period within which a post can be edited. In milliseconds. */
const editWindow = 30 * 86_400_000;
/** The emojis that are allowed in a channel with `BASIC` reactions. */
const basic: ReadonlySet<string> = new Set(['👍', '❤️', '😂', '😮', '😢', '🙏']);

const personOf = ({ people }: Parts, { number }: By): Person => people.ensure(number);

/** Sends a stanza to all devices of all followers, except the device that made the change. */
function tellFollowers(parts: Parts, channel: Channel, by: By, stanza: (isSender: boolean) => BinaryNode): void {
  for (const { number } of channel.followers)
    for (const device of parts.people.devices(number))
      if (number !== by.number || device.device !== by.device) parts.connections.deliver(device, stanza(number === by.number));
}

/** Returns a function that makes the stanza of a post. `edit`: `3` for changed content, `8` for a deletion. */
function postStanza(post: Post, edit?: '3' | '8') {
  const { type, mediatype } = stanzaKind(post.content ?? {});
  const plaintext = post.content ? proto.Message.encode(post.content).finish() : Buffer.alloc(0);
  const times = { original_msg_t: unixSeconds(post.at), msg_edit_t: String(post.editedAt) };
  return (isSender: boolean): BinaryNode =>
    node(
      'message',
      {
        from: post.channel,
        id: post.id,
        server_id: String(post.serverId),
        t: unixSeconds(post.at),
        type,
        edit,
        is_sender: isSender ? 'true' : undefined,
      },
      [node('plaintext', { mediatype }, plaintext), ...(edit ? [node('meta', times)] : [])],
    );
}

/** Sends the new counts of a post to the devices that subscribed to live updates of this channel. */
function tellLive(parts: Parts, channel: Channel, post: Post): void {
  for (const device of parts.liveUpdates.of(channel.jid)) {
    const attrs = { from: channel.jid, type: 'newsletter', id: parts.random.id(), t: unixSeconds(Date.now()) };
    const update = node('live_updates', {}, [node('messages', { jid: channel.jid }, [listed(parts, post, device.number, 'counts')])]);
    parts.connections.deliver(device, node('notification', attrs, [update]));
  }
}

/** Publishes a post. If the channel already has a post with this message id, returns that post. */
export function publish(
  parts: Parts,
  channel: Channel,
  by: By,
  { id, content }: { readonly id: string; readonly content: proto.IMessage },
): Post {
  asAdmin(channel, personOf(parts, by));
  const known = parts.posts.byId(channel.jid, id);
  if (known) return known;
  return parts.db.atomically(() => {
    const post = parts.posts.add({ channel: channel.jid, id, author: by.number, content });
    tellFollowers(parts, channel, by, postStanza(post));
    parts.people.emit({ type: 'post', channel: channel.jid, serverId: post.serverId });
    return post;
  });
}

/** Posts a status, as a `<status>` node that is not encrypted (tulir/whatsmeow a2381054). */
export function publishStatus(parts: Parts, channel: Channel, by: Person, text: string): void {
  asAdmin(channel, by);
  const plaintext = proto.Message.encode({ conversation: text }).finish();
  const attrs = { from: channel.jid, id: parts.random.messageId(), t: unixSeconds(Date.now()), type: 'text' };
  tellFollowers(parts, channel, by, () => node('status', attrs, [node('plaintext', {}, plaintext)]));
}

const existing = (post: Post | undefined): Post => {
  if (!post?.content) throw new SandboxError(404, 'item-not-found');
  return post;
};

function change(parts: Parts, channel: Channel, by: By, post: Post, content: proto.IMessage | undefined): Post {
  return parts.db.atomically(() => {
    const changed = parts.posts.change(post, content);
    tellFollowers(parts, channel, by, postStanza(changed, content ? '3' : '8'));
    parts.people.emit({ type: 'post', channel: channel.jid, serverId: post.serverId });
    return changed;
  });
}

/** Edits a post. Only its author may do so. */
export function edit(parts: Parts, channel: Channel, by: By, id: string, content: proto.IMessage): Post {
  asAdmin(channel, personOf(parts, by));
  const post = existing(parts.posts.byId(channel.jid, id));
  if (post.author !== by.number) throw new SandboxError(403, 'forbidden');
  if (Date.now() - post.at > editWindow || stanzaKind(content).type !== stanzaKind(post.content ?? {}).type)
    throw new SandboxError(400, 'bad-request');
  return change(parts, channel, by, post, content);
}

/** Deletes a post. Any admin may do so. */
export function revoke(parts: Parts, channel: Channel, by: By, id: string): Post {
  asAdmin(channel, personOf(parts, by));
  return change(parts, channel, by, existing(parts.posts.byId(channel.jid, id)), undefined);
}

/** Sets the reaction of a person to a post. `code` is an emoji; '' removes the reaction. */
export function react(parts: Parts, channel: Channel, number: Digits, serverId: number, code: string): Post {
  const post = existing(parts.posts.find(channel.jid, serverId));
  const isAllowed = channel.reactions === 'ALL' || (channel.reactions === 'BASIC' && basic.has(code));
  if (code !== '' && !isAllowed) throw new SandboxError(405, 'not-allowed');
  parts.posts.react(post, number, code);
  tellLive(parts, channel, post);
  parts.people.emit({ type: 'post', channel: channel.jid, serverId });
  return post;
}

/** Counts the views of a person. Repeated views and unknown posts are ignored. */
export function view(parts: Parts, channel: Channel, number: Digits, serverIds: readonly number[]): void {
  for (const serverId of serverIds) {
    const post = parts.posts.find(channel.jid, serverId);
    if (!post || !parts.posts.see(post, number)) continue;
    tellLive(parts, channel, post);
    parts.people.emit({ type: 'post', channel: channel.jid, serverId });
  }
}
