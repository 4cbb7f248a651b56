/** The rules for joining a group, and communities, which are groups of groups. */
import { addressBookHas } from './account.ts';
import { type Addressing, isMissingNumber, jidOf, toldPn } from './address.ts';
import { SandboxError } from './interface.ts';
import { type Group, maxMembers, rankOf } from './groups.ts';
import { type BinaryNode, node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

// Communities. The platform makes an announcement group for each community. Members of a linked group also become members of the community and of its
// announcement group.

const maxSubgroups = 100;

interface NewCommunity {
  readonly subject: string;
  readonly addressing: Addressing;
  /** True if the community has a group in which all members may write. */
  readonly general: boolean;
  /** True if admins must approve new members. */
  readonly approval: boolean;
}

export function createCommunity({ groups }: Parts, creator: Person, { subject, addressing, general, approval }: NewCommunity): Group {
  const community = groups.create(subject, creator, [], addressing, { isParent: true, approval });
  const parent = community.jid;
  groups.create(subject, creator, [], addressing, { parent, role: 'announcement', announce: true });
  if (general) groups.create('General', creator, [], addressing, { parent, role: 'general' });
  return community;
}

/** The result for one group of a request to link or unlink groups. Without `error`, the request succeeded for this group. */
export interface LinkResult {
  readonly jid: string;
  readonly error?: string;
}

export const subgroupsOf = ({ groups }: Parts, community: Group): Group[] => groups.all().filter(({ parent }) => parent === community.jid);

/** Returns true if the person is an admin of the group. */
const isAdmin = (group: Group, { number }: Person): boolean => Boolean(rankOf(group, number));

const linkRefusal = (parts: Parts, community: Group, by: Person, group: Group | undefined): string | undefined => {
  if (!group) return '404';
  if (!isAdmin(group, by)) return '401';
  if (group.isParent) return '406';
  if (group.parent !== undefined) return '409';
  return subgroupsOf(parts, community).length >= maxSubgroups ? '419' : undefined;
};

const unlinkRefusal = (community: Group, group: Group | undefined): string | undefined => {
  if (group?.parent !== community.jid) return '400';
  return group.role === undefined ? undefined : '406';
};

const target = ({ jid, subject }: Group): BinaryNode[] => [node('group', { jid, subject })];

function tell({ groups }: Parts, community: Group, group: Group, by: Person, linked: boolean): void {
  const news = (type: string, other: Group): BinaryNode =>
    linked
      ? node('link', { link_type: type }, target(other))
      : node('unlink', { unlink_type: type, unlink_reason: 'unlink_group' }, target(other));
  groups.announceChange(group, by, news('parent_group', community));
  groups.announceChange(community, by, news('sub_group', group));
}

/** Adds the members of a linked group to the community and to the community's announcement group. */
function welcome(parts: Parts, community: Group, group: Group, by: Person): void {
  const { groups, people } = parts;
  const members = group.members.map(({ number }) => people.ensure(number));
  groups.add(community, by, members);
  for (const one of subgroupsOf(parts, community)) if (one.role === 'announcement') groups.add(one, by, members);
}

export const linkGroups = (parts: Parts, community: Group, by: Person, jids: readonly string[]): LinkResult[] =>
  jids.map((jid) => {
    const group = parts.groups.find(jid);
    const error = linkRefusal(parts, community, by, group);
    if (error !== undefined || !group) return { jid, error: error ?? '404' };
    group.parent = community.jid;
    tell(parts, community, group, by, true);
    welcome(parts, community, group, by);
    return { jid };
  });

/**
 * Removes groups from the community. With `orphans`, the members of the removed groups also leave the community. Admins of the community stay, and so do
 * members of its other groups. The announcement group does not count as one of these groups.
 */
export const unlinkGroups = (parts: Parts, community: Group, by: Person, jids: readonly string[], orphans: boolean): LinkResult[] =>
  jids.map((jid) => {
    const group = parts.groups.find(jid);
    const error = unlinkRefusal(community, group);
    if (error !== undefined || !group) return { jid, error: error ?? '400' };
    group.parent = undefined;
    tell(parts, community, group, by, false);
    if (orphans) dismiss(parts, community, group, by);
    return { jid };
  });

function dismiss(parts: Parts, community: Group, group: Group, by: Person): void {
  const others = subgroupsOf(parts, community);
  const isElsewhere = (number: string): boolean =>
    others.some((one) => one.role !== 'announcement' && rankOf(one, number) !== undefined) || Boolean(rankOf(community, number));
  const leaving = group.members.filter(({ number }) => !isElsewhere(number)).map(({ number }) => parts.people.ensure(number));
  for (const one of [community, ...others]) parts.groups.remove(one, by, leaving);
}

// The rules for joining a group. A member adds a person, an admin approves a request, or the person uses a link or an invitation.

/** The period within which a person who left cannot be added again. In milliseconds. */
const leftLatelyMs = 24 * 3600_000;
/** The validity of an invitation. In milliseconds. */
const invitationMs = 3 * 24 * 3600_000;

/**
 * Reasons why a person cannot be added. 401: the person has blocked the adder. 403: the person's privacy settings. 404: no account. 408: the person left within
 * the last 24 hours. 409: already a member. 419: the group is full.
 */
type Refusal = '401' | '403' | '404' | '408' | '409' | '419';

export const exists = (person: Person | undefined): person is Person =>
  person !== undefined && !isMissingNumber(person.number) && person.absent !== true;

/** Returns the reason why a person cannot be added; undefined if the person can be added. `group` is undefined while the group is being made. */
export function refusalOf(parts: Parts, group: Group | undefined, by: Person, other: Person | undefined): Refusal | undefined {
  if (!exists(other)) return '404';
  if (group && rankOf(group, other.number) !== undefined) return '409';
  if (other.blocked.includes(by.number)) return '401';
  const wish = other.privacy['groupadd'] ?? 'all';
  if (wish === 'none' || (wish !== 'all' && !addressBookHas(parts, other.number, by.number))) return '403';
  if (group && (group.left?.[other.number] ?? 0) > Date.now() - leftLatelyMs) return '408';
  return group && group.members.length >= maxMembers ? '419' : undefined;
}

/** Makes an invitation for a person who cannot be added because of privacy settings (403) or a recent departure (408). */
function invite(parts: Parts, group: Group, by: Person, other: Person): BinaryNode {
  const expiration = Math.floor((Date.now() + invitationMs) / 1000);
  const code = parts.random.bytes(12).toString('base64url');
  const others = (group.invited ?? []).filter(({ number }) => number !== other.number);
  group.invited = [...others, { number: other.number, code, expiration, by: by.number }];
  parts.groups.save(group);
  return node('add_request', { code, expiration: String(expiration) });
}

/** Makes the node `<participant>` for a person who was not added. After a refusal with 403 or 408, the node contains an invitation. */
export function refused(parts: Parts, group: Group, by: Person, jid: string, other: Person | undefined, error: Refusal): BinaryNode {
  const instead = other && (error === '403' || error === '408') ? [invite(parts, group, by, other)] : undefined;
  const phone = other && jid.endsWith('@lid') ? { phone_number: toldPn(other) } : {};
  return node('participant', { jid, ...phone, error }, instead);
}

/** Adds `me` to the group of an invite link, or requests membership if admins must approve new members. Returns the platform's answer. */
export function joinByCode(parts: Parts, code: string, me: Person): BinaryNode {
  const group = parts.groups.byInvite(code);
  if (rankOf(group, me.number) !== undefined) throw new SandboxError(304, 'not-modified');
  if (group.removed?.includes(me.number)) throw new SandboxError(405, 'not-allowed');
  if (group.members.length >= maxMembers) throw new SandboxError(419, 'resource-limit');
  if (group.approval) {
    request(parts, group, me, 'invite_link');
    return node('membership_approval_request', { jid: group.jid });
  }
  parts.groups.add(group, me, [me]);
  return node('group', { jid: group.jid });
}

/** Accepts an invitation that a member sent as a message. */
export function acceptInvitation({ groups }: Parts, group: Group, me: Person, code: string): void {
  const found = group.invited?.find((one) => one.code === code && one.number === me.number);
  if (!found) throw new SandboxError(406, 'not-acceptable');
  if (found.expiration * 1000 < Date.now()) throw new SandboxError(410, 'gone');
  if (rankOf(group, found.by) === undefined) throw new SandboxError(401, 'not-authorized');
  groups.add(group, me, [me]);
}

/** Requests membership for `person` from the admins. */
export function request({ groups }: Parts, group: Group, person: Person, method: 'invite_link' | 'non_admin_add'): void {
  if (group.requests?.some(({ number }) => number === person.number)) return;
  group.requests = [...(group.requests ?? []), { number: person.number, at: Date.now(), method }];
  const user = node('requested_user', { jid: jidOf(person, group.addressing), ...otherJid(group, person) });
  groups.tellAdmins(group, person, node('created_membership_requests', { request_method: method }, [user]));
}

const otherJid = ({ addressing }: Group, person: Person): Record<string, string | undefined> =>
  addressing === 'lid' ? { phone_number: toldPn(person) } : { lid: jidOf(person, 'lid') };

export const requestNodes = ({ people }: Parts, group: Group): BinaryNode[] =>
  (group.requests ?? []).map(({ number, at, method }) => {
    const person = people.ensure(number);
    const attrs = { jid: jidOf(person, group.addressing), ...otherJid(group, person) };
    return node('membership_approval_request', { ...attrs, request_time: unixSeconds(at), request_method: method });
  });

/** Approves or rejects requests. Returns the people who had a request. */
export function decide({ groups }: Parts, group: Group, by: Person, people: readonly Person[], approve: boolean): Person[] {
  const asked = people.filter(({ number }) => group.requests?.some((one) => one.number === number));
  group.requests = (group.requests ?? []).filter(({ number }) => !asked.some((one) => one.number === number));
  if (approve) groups.add(group, by, asked);
  else {
    const gone = asked.map((one) => node('participant', { jid: jidOf(one, group.addressing), ...otherJid(group, one) }));
    if (gone.length > 0) groups.tellAdmins(group, by, node('revoked_membership_requests', {}, gone));
  }
  return asked;
}
