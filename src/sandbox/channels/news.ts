/** Notifications by which followers learn of changes of a channel (`mex`, by the name of the operation). */
import { lidJid } from '../address.ts';
import type { Digits } from '../face.ts';
import { node, platformJid, unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { isAdmin, roleOf, type Channel } from './channels.ts';
import { channelShape, partsOf, stateShape, viewerShape, type Changeable } from './shape.ts';

type NewsParts = Pick<Parts, 'links' | 'people' | 'random'>;

function tell({ links, people, random }: NewsParts, number: Digits, operation: string, field: string, value: unknown): void {
  for (const device of people.devices(number)) {
    const attrs = { from: platformJid, type: 'mex', id: random.id(), t: unixSeconds(Date.now()) };
    const update = node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data: { [field]: value } })));
    links.deliver(device, node('notification', attrs, [update]));
  }
}

export const tellJoined = (parts: NewsParts, channel: Channel, number: Digits): void =>
  tell(parts, number, 'NotificationNewsletterJoin', 'xwa2_notify_newsletter_on_join', channelShape(channel, number));

export const tellLeft = (parts: NewsParts, channel: Channel, number: Digits): void =>
  tell(parts, number, 'NotificationNewsletterLeave', 'xwa2_notify_newsletter_on_leave', { id: channel.jid });

/** The channel was deleted, suspended or freed. */
export function tellState(parts: NewsParts, channel: Channel, requester: Digits | undefined): void {
  for (const { number } of channel.followers) {
    const change = { ...stateShape(channel), is_requestor: number === requester };
    tell(parts, number, 'NotificationNewsletterStateChange', 'xwa2_notify_newsletter_on_state_change', change);
  }
}

/** A follower's own devices learn that it muted the channel. */
export function tellMuted(parts: NewsParts, channel: Channel, number: Digits): void {
  for (const setting of viewerShape(channel, number)?.settings ?? []) {
    const change = { id: channel.jid, setting };
    tell(parts, number, 'NotificationNewsletterUserSettingChange', 'xwa2_notify_newsletter_on_user_setting_change', change);
  }
}

/** Tells the changed metadata of a channel: the changed parts to every follower, and to admins also the author. */
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

/** Tells a changed role to the admins and to the person. */
export function tellRole(parts: NewsParts, channel: Channel, who: Person, by: Person, promoted: boolean): void {
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

export function tellRevoked(parts: NewsParts, channel: Channel, who: Person, by: Person): void {
  const change = { id: channel.jid, actor: { id: lidJid(by.lid) }, user: { id: lidJid(who.lid) } };
  for (const number of new Set([who.number, ...channel.followers.filter((one) => isAdmin(channel, one.number)).map((one) => one.number)]))
    tell(parts, number, 'NotificationNewsletterAdminInviteRevoke', 'xwa2_notify_newsletter_admin_invite_revoke', change);
}
