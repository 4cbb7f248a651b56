/** Communities: groups of groups. The platform makes their group of announcements, and members of a linked group become members of both. */
import type { Addressing } from './address.ts';
import { rankOf, type Group } from './groups.ts';
import { node, type BinaryNode } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

const maxSubgroups = 100;

interface First {
  readonly subject: string;
  readonly addressing: Addressing;
  /** With a group in which all members talk. */
  readonly general: boolean;
  /** Admins confirm who joins. */
  readonly approval: boolean;
}

export function createCommunity({ groups }: Parts, creator: Person, { subject, addressing, general, approval }: First): Group {
  const community = groups.create(subject, creator, [], addressing, { isParent: true, approval });
  const parent = community.jid;
  groups.create(subject, creator, [], addressing, { parent, role: 'announcement', announce: true });
  if (general) groups.create('General', creator, [], addressing, { parent, role: 'general' });
  return community;
}

/** The result for one group of a request. Without `error` it succeeded. */
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

/** Members of a group are members of its community, and read its announcements. */
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

/** `orphans`: members who are in no other group of the community leave it. */
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
