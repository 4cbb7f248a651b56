/** Groups as they are stored, what happens in them, and what a group is after a change. */
import type { Person } from './person.ts';

/** Who set a text of a group, and when (Unix milliseconds). */
export interface SetBy {
  readonly by: Person;
  readonly at: number;
}

export interface GroupMember extends Person {
  readonly isAdmin: boolean;
  readonly isSuperAdmin: boolean;
}

/** Settings of a group. What is absent is unknown, or did not change. */
export interface GroupSettings {
  readonly subject?: SetBy & { readonly text: string };
  /** `text` is '' when it was removed; null: there is none. `id`: the platform's, which the next change has to name. */
  readonly topic?: (SetBy & { readonly text: string; readonly id?: string }) | null;
  /** Only admins may change its settings. */
  readonly locked?: boolean;
  /** Only admins may write. */
  readonly announce?: boolean;
  /** Seconds after which messages disappear; 0: never. */
  readonly ephemeral?: number;
  /** Admins confirm who joins. */
  readonly joinApproval?: boolean;
  readonly inviteCode?: string;
  readonly whoAddsMembers?: 'all' | 'admins';
  /** The platform closed it. */
  readonly suspended?: boolean;
  /** The community that it belongs to; '' for none. */
  readonly parent?: string;
}

/** A group without its members. */
export interface GroupFacts extends GroupSettings {
  readonly owner: Person;
  /** Unix milliseconds; null when it is unknown. */
  readonly createdAt: number | null;
  /** How members are named on the wire. */
  readonly addressing?: 'pn' | 'lid';
  readonly isCommunity?: boolean;
  /** The group of a community in which its admins write to everybody. */
  readonly isDefaultSubgroup?: boolean;
  readonly isIncognito?: boolean;
  readonly creatorCountry?: string;
  /** Versions that the platform counts. */
  readonly announceVersion?: string;
  readonly participantVersion?: string;
}

/** A whole group. */
export interface Group extends GroupFacts {
  readonly id: string;
  readonly members: readonly GroupMember[];
}

/** An XML element of the platform's protocol, unchanged. */
export interface RawChange {
  readonly tag: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly content: string | readonly RawChange[] | null;
}

export type MemberAction = 'join' | 'leave' | 'promote' | 'demote';

/** What changed in a group. */
export type GroupEvent =
  | { readonly kind: 'settings'; readonly settings: GroupSettings }
  | {
      readonly kind: 'members';
      readonly action: MemberAction;
      readonly people: readonly Person[];
      /** Such as `invite`. */
      readonly reason?: string;
      readonly versions?: { readonly before: string; readonly after: string };
    }
  /** The account came into this group. */
  | { readonly kind: 'entered'; readonly group: Group; readonly reason?: string }
  /** The number of a member changed. The stored group gets the new one; the event shows no change. */
  | { readonly kind: 'renamed'; readonly from: Person; readonly to: Person }
  /** The group was deleted. */
  | { readonly kind: 'deleted'; readonly reason: string }
  /** The group became part of a community, or left it. */
  | { readonly kind: 'linked' | 'unlinked'; readonly type: string; readonly reason: string; readonly groups: readonly LinkedGroup[] }
  /** A change that is passed on as it came: requests to join, and kinds that this build does not know. */
  | { readonly kind: 'other'; readonly raw: RawChange };

export interface LinkedGroup {
  readonly id: string;
  readonly subject: string;
}

/** Something happened in a group. */
export interface GroupChange {
  readonly groupId: string;
  readonly by: Person;
  /** The profile name of the person in `by`; '' when the platform did not send it. */
  readonly byName?: string;
  readonly at: number;
  readonly change: GroupEvent;
}

const shared = (one: Person, other: Person): boolean =>
  (one.id !== '' && one.id === other.id) || (one.pn !== '' && one.pn === other.pn) || (one.lid !== '' && one.lid === other.lid);

/** Whether the person is among these people: it is enough that one of the person's addresses (id, number, LID) is the same. */
export const includesPerson = (people: readonly Person[], person: Person): boolean => people.some((one) => shared(one, person));

const withRank = (members: Group['members'], people: readonly Person[], isAdmin: boolean): Group['members'] =>
  members.map((member) => (includesPerson(people, member) ? { ...member, isAdmin, isSuperAdmin: isAdmin && member.isSuperAdmin } : member));

const membersAfter = (members: Group['members'], action: MemberAction, people: readonly Person[]): Group['members'] => {
  switch (action) {
    case 'join': {
      const fresh = people.filter((one) => !includesPerson(members, one));
      return [...members, ...fresh.map(({ id, pn, lid }) => ({ id, pn, lid, isAdmin: false, isSuperAdmin: false }))];
    }
    case 'leave':
      return members.filter((member) => !includesPerson(people, member));
    default:
      return withRank(members, people, action === 'promote');
  }
};

/** The group after a change; null when the change deleted it. A change of something that is not stored leaves the group as it is. */
export const groupAfter = (group: Group, { change }: GroupChange): Group | null => {
  switch (change.kind) {
    case 'settings':
      return { ...group, ...change.settings };
    case 'members': {
      const members = membersAfter(group.members, change.action, change.people);
      return { ...group, members, ...(change.versions && { participantVersion: change.versions.after }) };
    }
    case 'entered':
      return { ...group, ...change.group };
    case 'renamed': {
      const { from, to } = change;
      return { ...group, members: group.members.map((member) => (shared(member, from) ? { ...member, ...to } : member)) };
    }
    case 'deleted':
      return null;
    case 'linked':
    case 'unlinked':
      return change.type === 'parent_group' ? { ...group, parent: change.kind === 'linked' ? (change.groups[0]?.id ?? '') : '' } : group;
    case 'other':
      return group;
  }
};
