/** Actions of people on a channel, for clients and for simulated people alike: the rights, the change, and the notifications. */
import { SandboxError, type ReactionCodes } from '../face.ts';
import type { Parts } from '../parts.ts';
import type { Person, Picture } from '../people.ts';
import { checked, followerOf, isAdmin, maxDescription, maxName, roleOf, type Channel, type Follower } from './channels.ts';
import { tellChanged, tellJoined, tellLeft, tellMuted, tellRevoked, tellRole, tellState } from './news.ts';
import type { Changeable } from './shape.ts';

type ActionParts = Pick<Parts, 'channels' | 'links' | 'people' | 'random'>;

const forbidden = (): SandboxError => new SandboxError(403, 'forbidden');

/** People without any right are not authorised (401); an admin may not do what only the owner may (403). */
function asOwner(channel: Channel, { number }: Person): void {
  if (!isAdmin(channel, number)) throw new SandboxError(401, 'not-authorized');
  if (roleOf(channel, number) !== 'OWNER') throw forbidden();
}

export function asAdmin(channel: Channel, { number }: Person): void {
  if (!isAdmin(channel, number)) throw new SandboxError(401, 'not-authorized');
}

function asFollower(channel: Channel, { number }: Person): Follower {
  const follower = followerOf(channel, number);
  if (!follower) throw new SandboxError(401, 'not-authorized');
  return follower;
}

export function createChannel(parts: ActionParts, me: Person, name: string, description: string, picture: Picture | undefined): Channel {
  const channel = parts.channels.create(name, description, me, picture);
  tellJoined(parts, channel, me.number);
  return channel;
}

/** Without effect, and without a notification, for somebody who follows already. */
export function follow(parts: ActionParts, channel: Channel, me: Person): void {
  if (channel.state !== 'ACTIVE') throw forbidden();
  if (roleOf(channel, me.number) !== undefined) return;
  parts.channels.follow(channel, me);
  parts.channels.save(channel);
  tellJoined(parts, channel, me.number);
}

/** The owner cannot leave: the channel has to be deleted or handed over. */
export function unfollow(parts: ActionParts, channel: Channel, me: Person): void {
  const role = roleOf(channel, me.number);
  if (role === undefined) return;
  if (role === 'OWNER') throw forbidden();
  channel.followers = channel.followers.filter(({ number }) => number !== me.number);
  parts.channels.save(channel);
  tellLeft(parts, channel, me.number);
}

export function mute(parts: ActionParts, channel: Channel, me: Person, what: 'muted' | 'followersMuted', on: boolean): void {
  asFollower(channel, me)[what] = on;
  parts.channels.save(channel);
  tellMuted(parts, channel, me.number);
}

/** The change by an owner or admin. Absent fields stay. */
export interface ChannelWish {
  readonly name?: string;
  readonly description?: string;
  /** `null`: none. */
  readonly picture?: Picture | null;
  readonly reactions?: ReactionCodes;
}

export function change(parts: ActionParts, channel: Channel, me: Person, wish: ChannelWish): void {
  asAdmin(channel, me);
  const changed: Changeable[] = [];
  if (wish.name !== undefined) {
    channel.name = parts.channels.text(checked(wish.name, 1, maxName, 'name'));
    changed.push('name');
  }
  if (wish.description !== undefined) {
    channel.description = parts.channels.text(checked(wish.description, 0, maxDescription, 'description'));
    changed.push('description');
  }
  if (wish.picture !== undefined) {
    channel.picture = wish.picture ?? undefined;
    changed.push('picture', 'preview');
  }
  if (wish.reactions !== undefined) {
    channel.reactions = wish.reactions;
    changed.push('settings');
  }
  parts.channels.save(channel);
  tellChanged(parts, channel, me, changed);
}

export function remove(parts: ActionParts, channel: Channel, me: Person): void {
  asOwner(channel, me);
  channel.state = 'DELETED';
  tellState(parts, channel, me.number);
  channel.followers = [];
  channel.invitations = [];
  parts.channels.save(channel);
}

/** Returns until when the invitation can be accepted, in Unix milliseconds. */
export function inviteAdmin(parts: ActionParts, channel: Channel, me: Person, who: Person): number {
  asOwner(channel, me);
  if (isAdmin(channel, who.number)) throw new SandboxError(409, 'conflict');
  const { expiresAt } = parts.channels.invite(channel, who);
  parts.channels.save(channel);
  return expiresAt;
}

export function revokeAdmin(parts: ActionParts, channel: Channel, me: Person, who: Person): void {
  asOwner(channel, me);
  if (!channel.invitations.some(({ number }) => number === who.number)) throw new SandboxError(404, 'item-not-found');
  channel.invitations = channel.invitations.filter(({ number }) => number !== who.number);
  parts.channels.save(channel);
  tellRevoked(parts, channel, who, me);
}

export function acceptAdmin(parts: ActionParts, channel: Channel, me: Person): void {
  const invitation = channel.invitations.find(({ number }) => number === me.number);
  if (!invitation) throw new SandboxError(404, 'item-not-found');
  if (invitation.expiresAt <= Date.now()) throw new SandboxError(410, 'gone');
  const isNew = roleOf(channel, me.number) === undefined;
  channel.invitations = channel.invitations.filter((one) => one !== invitation);
  parts.channels.follow(channel, me, 'ADMIN');
  parts.channels.save(channel);
  if (isNew) tellJoined(parts, channel, me.number);
  tellRole(parts, channel, me, me, true);
}

/** The owner takes the right from an admin, or an admin lays it down. */
export function removeAdmin(parts: ActionParts, channel: Channel, me: Person, who: Person): void {
  if (me === who) asFollower(channel, me);
  else asOwner(channel, me);
  const follower = followerOf(channel, who.number);
  if (follower?.role === 'OWNER') throw forbidden();
  if (follower?.role !== 'ADMIN') throw new SandboxError(404, 'item-not-found');
  follower.role = 'SUBSCRIBER';
  parts.channels.save(channel);
  tellRole(parts, channel, who, me, false);
}

/** Only an admin can become the owner. The old owner stays as an admin. */
export function transfer(parts: ActionParts, channel: Channel, me: Person, who: Person): void {
  asOwner(channel, me);
  const next = followerOf(channel, who.number);
  if (next?.role !== 'ADMIN') throw new SandboxError(400, 'bad-request');
  asFollower(channel, me).role = 'ADMIN';
  next.role = 'OWNER';
  parts.channels.save(channel);
  tellRole(parts, channel, who, me, true);
  tellRole(parts, channel, me, me, false);
}
