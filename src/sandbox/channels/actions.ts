/** Actions of people on a channel, for clients and for simulated people alike: the rights, the change, and the notifications. */
import { lidJid } from '../address.ts';
import { type Digits, type ReactionCodes, SandboxError } from '../interface.ts';
import { node, platformJid, unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Person, Picture } from '../people.ts';
import { type Channel, checked, type Follower, followerOf, isAdmin, maxDescription, maxName, roleOf } from './channels.ts';
import { type Changeable, channelShape, partsOf, stateShape, viewerShape } from './shape.ts';

// Notifications by which followers learn of changes of a channel (`mex`, by the name of the operation).

type NewsParts = Pick<Parts, 'connections' | 'people' | 'random'>;

function tell({ connections, people, random }: NewsParts, number: Digits, operation: string, field: string, value: unknown): void {
  for (const device of people.devices(number)) {
    const attrs = { from: platformJid, type: 'mex', id: random.id(), t: unixSeconds(Date.now()) };
    const update = node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data: { [field]: value } })));
    connections.deliver(device, node('notification', attrs, [update]));
  }
}

const tellJoined = (parts: NewsParts, channel: Channel, number: Digits): void =>
  tell(parts, number, 'NotificationNewsletterJoin', 'xwa2_notify_newsletter_on_join', channelShape(channel, number));

const tellLeft = (parts: NewsParts, channel: Channel, number: Digits): void =>
  tell(parts, number, 'NotificationNewsletterLeave', 'xwa2_notify_newsletter_on_leave', { id: channel.jid });

/** Notifies followers of the new state of the channel. */
export function tellState(parts: NewsParts, channel: Channel, requester: Digits | undefined): void {
  for (const { number } of channel.followers) {
    const change = { ...stateShape(channel), is_requestor: number === requester };
    tell(parts, number, 'NotificationNewsletterStateChange', 'xwa2_notify_newsletter_on_state_change', change);
  }
}

/** Sends a follower's current mute settings for the channel to the follower's devices. */
function tellMuted(parts: NewsParts, channel: Channel, number: Digits): void {
  for (const setting of viewerShape(channel, number)?.settings ?? []) {
    const change = { id: channel.jid, setting };
    tell(parts, number, 'NotificationNewsletterUserSettingChange', 'xwa2_notify_newsletter_on_user_setting_change', change);
  }
}

/** Notifies followers of changed metadata. The owner and the admins also get the author `by`, if there is one. */
export function tellChanged(parts: NewsParts, channel: Channel, by: Person | undefined, names: readonly Changeable[]): void {
  const change = { id: channel.jid, thread_metadata: partsOf(channel, names) };
  for (const { number } of channel.followers) {
    const role = roleOf(channel, number);
    if (role === 'SUBSCRIBER' || !by)
      tell(parts, number, 'NotificationNewsletterUpdate', 'xwa2_notify_newsletter_on_metadata_update', change);
    else {
      const [operation, field] = role === 'OWNER' ? ownerUpdate : adminUpdate;
      tell(parts, number, operation, field, { ...change, actor: { id: lidJid(by.lid) } });
    }
  }
}

const ownerUpdate = ['NotificationNewsletterOwnerUpdate', 'xwa2_notify_newsletter_owner_on_metadata_update'] as const;
const adminUpdate = ['NotificationNewsletterAdminMetadataUpdate', 'xwa2_notify_newsletter_admin_metadata_update'] as const;

/** Notifies the admins and the person of the person's new role. */
function tellRole(parts: NewsParts, channel: Channel, who: Person, by: Person, promoted: boolean): void {
  const word = promoted ? 'Promote' : 'Demote';
  const change = {
    id: channel.jid,
    actor: { id: lidJid(by.lid) },
    admin: { id: lidJid(by.lid) },
    user: { id: lidJid(who.lid) },
    user_new_role: roleOf(channel, who.number) ?? 'GUEST',
  };
  for (const { number } of channel.followers)
    if (isAdmin(channel, number) || number === who.number)
      tell(parts, number, `NotificationNewsletterAdmin${word}`, `xwa2_notify_newsletter_admin_${word.toLowerCase()}`, change);
}

function tellRevoked(parts: NewsParts, channel: Channel, who: Person, by: Person): void {
  const change = { id: channel.jid, actor: { id: lidJid(by.lid) }, user: { id: lidJid(who.lid) } };
  for (const number of new Set([who.number, ...channel.followers.filter((one) => isAdmin(channel, one.number)).map((one) => one.number)]))
    tell(parts, number, 'NotificationNewsletterAdminInviteRevoke', 'xwa2_notify_newsletter_admin_invite_revoke', change);
}

type ActionParts = Pick<Parts, 'channels' | 'connections' | 'people' | 'random'>;

const forbidden = (): SandboxError => new SandboxError(403, 'forbidden');

/** Checks that the person is the owner. Throws 403 for an admin, and 401 for other people. */
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

/** Follows a channel. Has no effect and sends no notification if the person already follows it. */
export function follow(parts: ActionParts, channel: Channel, me: Person): void {
  if (channel.state !== 'ACTIVE') throw forbidden();
  if (roleOf(channel, me.number) !== undefined) return;
  parts.channels.follow(channel, me);
  parts.channels.save(channel);
  tellJoined(parts, channel, me.number);
}

/** Leaves a channel. The owner cannot leave, but must delete or transfer the channel. */
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

/** A change by an owner or admin. Absent fields stay unchanged. */
export interface ChannelWish {
  readonly name?: string;
  readonly description?: string;
  /** The new picture; null removes the picture. */
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

/** Invites a person to become an admin. Returns the time at which the invitation expires, in Unix milliseconds. */
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

/** Removes an admin's rights, on behalf of the owner or of the admin. */
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

/** Transfers the channel. Only an admin can become the owner. The old owner stays an admin. */
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
