/** Channels, and what people do with them. The rights are those that the platform enforces for clients. */
import { keepPicture } from '../account.ts';
import * as act from '../channels/actions.ts';
import { viewChannel, type Channel } from '../channels/channels.ts';
import { publishStatus } from '../channels/posts.ts';
import { tellChanged, tellState } from '../channels/news.ts';
import type { Changeable } from '../channels/shape.ts';
import { SandboxError, type ChannelChange, type ChannelFacts, type ChannelsFace } from '../face.ts';
import { compose } from '../messages/compose.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { placeOf } from './lookup.ts';

export function channelsRoom(parts: Parts): ChannelsFace {
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

/** The person gets the invitation as a message, from which the app accepts it. */
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
