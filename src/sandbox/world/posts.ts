/** Posts of simulated people in their channels. */
import type { proto } from '@whiskeysockets/baileys';
import { ownerOf, type Channel } from '../channels/channels.ts';
import { edit, publish, react, revoke, view } from '../channels/posts.ts';
import { kindOf, mediaOf, textOf, toJson } from '../content.ts';
import { SandboxError, type Content, type Digits, type PostsFace, type PostView } from '../face.ts';
import { sha256 } from '../media.ts';
import { compose } from '../messages/compose.ts';
import type { Parts } from '../parts.ts';
import type { Post } from '../store/posts.ts';

const mostListed = 300;
const highest = 2_147_483_647;
/** Contents that channels take. */
const kinds: ReadonlySet<Content['kind']> = new Set(['text', 'image', 'video', 'gif', 'audio', 'ptt', 'document', 'sticker', 'poll']);

export function postsRoom(parts: Parts): PostsFace {
  const { channels, posts, random } = parts;
  const writer = (channel: Channel, by: Digits | undefined): { readonly number: Digits } => ({ number: by ?? ownerOf(channel) });
  return {
    async post(jid, { content, by }) {
      const channel = channels.get(jid);
      if (!kinds.has(content.kind)) throw new SandboxError(400, `channels do not take ${content.kind}`);
      const message = await messageOf(parts, channel, writer(channel, by).number, content);
      const { id, serverId } = publish(parts, channel, writer(channel, by), { id: random.messageId(), content: message });
      return { id, serverId };
    },
    async changePost(jid, serverId, change) {
      const channel = channels.get(jid);
      const post = found(parts, jid, serverId);
      switch (change.action) {
        case 'edit':
          edit(parts, channel, writer(channel, change.by), post.id, withText(post, change.text));
          break;
        case 'delete':
          revoke(parts, channel, writer(channel, change.by), post.id);
          break;
        case 'react':
          react(parts, channel, change.by, serverId, change.emoji);
          break;
        case 'view':
          view(parts, channel, change.by, [serverId]);
      }
      return viewPost(parts, found(parts, jid, serverId));
    },
    posts(jid, { before = highest, limit = mostListed } = {}) {
      const page = posts.before(channels.get(jid).jid, before, Math.min(limit, mostListed));
      return Promise.all(page.map((post) => viewPost(parts, post)));
    },
  };
}

function found({ posts }: Parts, channel: string, serverId: number): Post {
  const post = posts.find(channel, serverId);
  if (!post) throw new SandboxError(404, `the channel has no post ${serverId}`);
  return post;
}

/** Without secret and encryption: everybody may read it. */
async function messageOf(parts: Parts, { jid }: Channel, by: Digits, content: Content): Promise<proto.IMessage> {
  const tools = { ...parts, media: { seal: (_kind: string, file: Uint8Array) => parts.media.keepPlain(file) } };
  const { message } = await compose(parts.people.ensure(by), { chat: jid, addressing: 'pn', group: false }, content, tools);
  const { messageContextInfo: _secret, ...plain } = message;
  return plain;
}

const captioned = ['imageMessage', 'videoMessage', 'documentMessage'] as const;

function withText({ content = {} }: Post, text: string): proto.IMessage {
  if (content.conversation) return { conversation: text };
  if (content.extendedTextMessage) return { extendedTextMessage: { ...content.extendedTextMessage, text } };
  const field = captioned.find((name) => content[name]);
  if (!field) throw new SandboxError(400, 'only texts and captions can be edited');
  return { [field]: { ...content[field], caption: text } };
}

async function viewPost({ posts, media }: Parts, post: Post): Promise<PostView> {
  const { serverId, id, author, at, editedAt, content = {} } = post;
  const part = mediaOf(content);
  const file = part && (await media.open(part));
  return {
    serverId,
    id,
    author,
    at,
    edited: post.content !== undefined && editedAt > 0,
    deleted: post.content === undefined,
    kind: kindOf(content),
    text: textOf(content),
    content: toJson(content),
    ...posts.counts(post),
    ...(file ? { file: { bytes: file.length, sha256: sha256(file).toString('hex') } } : {}),
  };
}
