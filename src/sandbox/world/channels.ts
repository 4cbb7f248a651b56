/** Channels, and the actions of people on them. People have the same rights as clients. */
import type { proto } from '@whiskeysockets/baileys';
import { keepPicture } from '../account.ts';
import * as act from '../channels/actions.ts';
import { tellChanged, tellState } from '../channels/actions.ts';
import { type Channel, ownerOf, viewChannel } from '../channels/channels.ts';
import { edit, publish, publishStatus, react, revoke, view } from '../channels/posts.ts';
import type { Changeable } from '../channels/shape.ts';
import { kindOf, mediaOf, textOf, toJson } from '../content.ts';
import {
  type ChannelChange,
  type ChannelFacts,
  type ChannelsMethods,
  type Content,
  type Digits,
  type PostsMethods,
  type PostView,
  SandboxError,
} from '../interface.ts';
import { sha256 } from '../media.ts';
import { compose } from '../messages/compose.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import type { Post } from '../store/messages.ts';
import { placeOf } from './people.ts';

export function channelsMethods(parts: Parts): ChannelsMethods {
  const { db, channels, people } = parts;
  return {
    async createChannel({ name, owner, description = '' }) {
      const person = people.ensure(owner);
      return viewChannel(db.atomically(() => act.createChannel(parts, person, name, description, undefined)));
    },
    async changeChannel(jid, by, change) {
      const channel = channels.get(jid);
      const actor = people.ensure(by);
      db.atomically(() => apply(parts, channel, actor, change));
      if (change.action === 'inviteAdmin') await sendInvitation(parts, channel, actor, people.ensure(change.who));
      return viewChannel(channel);
    },
    async setChannelFacts(jid, facts) {
      const channel = channels.get(jid);
      db.atomically(() => setFacts(parts, channel, facts));
      return viewChannel(channel);
    },
    channels: () => channels.all().map(viewChannel),
    channel(jid) {
      const channel = channels.find(jid);
      if (!channel) throw new SandboxError(404, `there is no channel ${jid.slice(0, 60)}`);
      return viewChannel(channel);
    },
  };
}

function apply(parts: Parts, channel: Channel, actor: Person, change: ChannelChange): void {
  switch (change.action) {
    case 'follow':
      return act.follow(parts, channel, actor);
    case 'unfollow':
      return act.unfollow(parts, channel, actor);
    case 'mute':
    case 'unmute':
      return act.mute(parts, channel, actor, 'muted', change.action === 'mute');
    case 'delete':
      return act.remove(parts, channel, actor);
    case 'status':
      return publishStatus(parts, channel, actor, change.text);
    case 'name':
    case 'description':
      return act.change(parts, channel, actor, { [change.action]: change.text });
    case 'picture':
      return act.change(parts, channel, actor, { picture: keepPicture(parts, Buffer.from(change.data, 'base64')) ?? null });
    case 'reactions':
      return act.change(parts, channel, actor, { reactions: change.value });
    case 'acceptAdmin':
      return act.acceptAdmin(parts, channel, actor);
    default:
      return applyTo(parts, channel, actor, change.action, parts.people.ensure(change.who));
  }
}

type OnPerson = Extract<ChannelChange, { readonly who: string }>['action'];

function applyTo(parts: Parts, channel: Channel, actor: Person, action: OnPerson, who: Person): void {
  if (action === 'inviteAdmin') act.inviteAdmin(parts, channel, actor, who);
  else if (action === 'revokeAdmin') act.revokeAdmin(parts, channel, actor, who);
  else if (action === 'removeAdmin') act.removeAdmin(parts, channel, actor, who);
  else act.transfer(parts, channel, actor, who);
}

/** Sends the invitation as a message to the invited person. */
async function sendInvitation(parts: Parts, channel: Channel, by: Person, who: Person): Promise<void> {
  const expiresAt = channel.invitations.find(({ number }) => number === who.number)?.expiresAt ?? 0;
  const newsletterAdminInviteMessage = {
    newsletterJid: channel.jid,
    newsletterName: channel.name.text,
    caption: '',
    inviteExpiration: Math.floor(expiresAt / 1000),
  };
  const target = { person: who, addressing: 'pn' } as const;
  const composed = await compose(by, placeOf(target), { kind: 'message', message: { newsletterAdminInviteMessage } }, parts);
  await parts.outbox.send(by, target, composed, parts.random.messageId());
}

function setFacts(parts: Parts, channel: Channel, { state, verified, handle, country, expireInvitations }: ChannelFacts): void {
  const changed: Changeable[] = [];
  if (verified !== undefined) {
    channel.verified = verified;
    changed.push('verification');
  }
  if (handle !== undefined) {
    channel.handle = handle;
    changed.push('handle');
  }
  if (country !== undefined) channel.country = country;
  if (expireInvitations) channel.invitations = channel.invitations.map(({ number }) => ({ number, expiresAt: Date.now() }));
  const isNewState = state !== undefined && state !== channel.state;
  if (state !== undefined) channel.state = state;
  parts.channels.save(channel);
  if (changed.length > 0) tellChanged(parts, channel, undefined, changed);
  if (isNewState) tellState(parts, channel, undefined);
}

// Posts of simulated people in their channels.

const mostListed = 300;
const highest = 2_147_483_647;
/** The kinds of content that channels accept. */
const kinds: ReadonlySet<Content['kind']> = new Set(['text', 'image', 'video', 'gif', 'audio', 'ptt', 'document', 'sticker', 'poll']);

export function postsMethods(parts: Parts): PostsMethods {
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

/** Makes the message of a post. It has no secret and no encryption, because every follower may read it. */
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
