/** People and groups: the addresses of people, the address book, stored groups, and the function that applies an event to a group. */

// People as the platform addresses them.

/** A person with the addresses that the platform gave. */
export interface Person {
  /** The address as the platform wrote it; '' if the platform named no person. */
  readonly id: string;
  /** The phone jid and the LID; '' for an unknown address. */
  readonly pn: string;
  readonly lid: string;
}

/** A Brazilian mobile number: the area code, optionally the ninth digit, and eight digits, of which the first marks a mobile number. */
const brazilian = /^55([1-9]\d)(9?)([6-9]\d{7})$/;

/**
 * Returns the forms under which the platform may know a number. The given form is the first. Accounts of Brazilian mobile numbers are known with or
 * without the ninth digit. Other numbers have one form, because a number with one more or one less digit may belong to another person.
 */
export const numberForms = (digits: string): readonly string[] => {
  const [, area, ninth, rest = ''] = brazilian.exec(digits) ?? [];
  return area === undefined ? [digits] : [digits, `55${area}${ninth === '' ? '9' : ''}${rest}`];
};

// People whom an account knows: entries of its address book, and people whose name the platform has reported.

/** A known person; unique by (instance, contactId). */
export interface Contact {
  /** The phone jid if it is known, else the LID. */
  readonly contactId: string;
  /** The LID; '' if unknown or equal to `contactId`. */
  readonly lid: string;
  /** The name in the owner's address book; '' for people outside the address book. */
  readonly name: string;
  /** The name that the person chose; '' if unknown. */
  readonly pushName: string;
}

export const contactScopes = ['address_book', 'outside_address_book', 'all'] as const;

export type ContactScope = (typeof contactScopes)[number];

// Pictures of people and groups, as the platform shows them to the account.

/** The kinds of pictures. `image`: the whole picture; `preview`: a small picture. */
export type PictureKind = 'image' | 'preview';

/** The platform's answer about a picture. `hidden`: the account may not see the picture. */
export interface Picture {
  readonly state: 'there' | 'hidden' | 'absent';
  /** The platform's URL of the picture, valid for some days; '' if there is none. */
  readonly url: string;
}

/** The result of a look-up. `id`: the chat id; `at`: Unix milliseconds. */
export interface LookedPicture extends Picture {
  readonly id: string;
  readonly kind: PictureKind;
  readonly at: number;
}

// Privacy settings of an account, in the platform's own words.

const people = ['all', 'contacts', 'contact_blacklist', 'none'] as const;
const allOrNone = ['all', 'none'] as const;

/**
 * The settings and their values. `groupadd`: who may add the account to groups. `last`, `online`: who sees the last visit and the presence. `status`,
 * `profile`: who sees the about text and the picture. `readreceipts`: who gets read receipts. `calladd`: who may call.
 */
export const privacyValues = {
  groupadd: people,
  last: people,
  status: people,
  profile: people,
  readreceipts: allOrNone,
  online: ['all', 'match_last_seen'],
  calladd: ['all', 'known'],
} as const;

export type PrivacyCategory = keyof typeof privacyValues;

/** The settings of an account. An absent setting is unknown, or stays unchanged. */
export type PrivacySettings = { readonly [Category in PrivacyCategory]?: (typeof privacyValues)[Category][number] };

// Groups as they are stored, the events of a group, and the function that applies an event to a group.

/** The person who set a text of a group, and the time in Unix milliseconds. */
export interface SetBy {
  readonly by: Person;
  readonly at: number;
}

export interface GroupMember extends Person {
  readonly isAdmin: boolean;
  readonly isSuperAdmin: boolean;
}

/** Settings of a group. An absent field is unknown, or did not change. */
export interface GroupSettings {
  readonly subject?: SetBy & { readonly text: string };
  /** The description; null if there is none. `text` is '' after a removal. The next change of the description has to send the last `id`. */
  readonly topic?: (SetBy & { readonly text: string; readonly id?: string }) | null;
  /** True if only admins may change the group's settings. */
  readonly locked?: boolean;
  /** True if only admins may write. */
  readonly announce?: boolean;
  /** The time after which messages disappear; 0 for never. In seconds. */
  readonly ephemeral?: number;
  /** True if an admin has to approve new members. */
  readonly joinApproval?: boolean;
  readonly inviteCode?: string;
  readonly whoAddsMembers?: 'all' | 'admins';
  /** True if the platform suspended the group. */
  readonly suspended?: boolean;
  /** The id of the community of the group; '' for none. */
  readonly parent?: string;
}

/** A group without its members. */
export interface GroupFacts extends GroupSettings {
  readonly owner: Person;
  /** The time of the creation; null if the time is unknown. In Unix milliseconds. */
  readonly createdAt: number | null;
  /** The kind of address that the group uses for members on the wire. */
  readonly addressing?: 'pn' | 'lid';
  readonly isCommunity?: boolean;
  /** True for the announcement group of a community. */
  readonly isDefaultSubgroup?: boolean;
  readonly isIncognito?: boolean;
  readonly creatorCountry?: string;
  /** Version numbers that the platform assigns. */
  readonly announceVersion?: string;
  readonly participantVersion?: string;
}

/** A group with its members. */
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

/** A change of a group. */
export type GroupEvent =
  | { readonly kind: 'settings'; readonly settings: GroupSettings }
  | {
      readonly kind: 'members';
      readonly action: MemberAction;
      readonly people: readonly Person[];
      /** The platform's word for the reason, such as `invite`. */
      readonly reason?: string;
      readonly versions?: { readonly before: string; readonly after: string };
    }
  /** The account joined this group. */
  | { readonly kind: 'entered'; readonly group: Group; readonly reason?: string }
  /** A member changed its phone number. The stored group gets the new number, and the event shows no change. */
  | { readonly kind: 'renamed'; readonly from: Person; readonly to: Person }
  /** The group was deleted. */
  | { readonly kind: 'deleted'; readonly reason: string }
  /** The group became part of a community, or left a community. */
  | { readonly kind: 'linked' | 'unlinked'; readonly type: string; readonly reason: string; readonly groups: readonly LinkedGroup[] }
  /** A change whose fields are passed on as they arrived, such as a request to join or a kind that this build does not know. */
  | { readonly kind: 'other'; readonly raw: RawChange };

export interface LinkedGroup {
  readonly id: string;
  readonly subject: string;
}

/** A change of a group, with the person and the time. */
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

/** Returns true if the person is among these people. One equal address (id, number or LID) is enough. */
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

/** Applies a change to a group. Returns null if the change deleted the group. A change of facts that are not stored leaves the group as it is. */
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

// Communities: groups of groups.

/** The community of a group, as the group's chat stores it. The fields have the order in which the database returns them. */
export interface ParentCommunity {
  readonly id: string;
  readonly name: string;
  /** URLs of pictures; '' if unknown. */
  readonly image: string;
  readonly preview: string;
  /** The announcement group of the community; '' if unknown. */
  readonly defaultGroup: string;
}

/** The key of `Chat.extra` under which a chat stores its `ParentCommunity`. */
export const parentCommunity = 'parent_community';
