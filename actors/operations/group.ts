/** Operations on groups. `groupId`: an id such as `120363153742561022@g.us`. */
import type { Group, Person } from '../model.ts';

/** The outcome of a request for one person. */
export interface MemberOutcome {
  readonly person: Person;
  /** The platform's error code; 0 for success. */
  readonly error: number;
  /** An invitation for a person who could not be added. `expiresAt`: Unix milliseconds. */
  readonly invitation: { readonly code: string; readonly expiresAt: number } | null;
}

/** A change of one setting of a group. */
export type GroupWish =
  | { readonly of: 'name' | 'description'; readonly text: string }
  | { readonly of: 'announce' | 'locked' | 'joinApproval'; readonly on: boolean }
  | { readonly of: 'whoAddsMembers'; readonly who: 'all' | 'admins' }
  /** The time after which messages disappear; 0 for never. In seconds. */
  | { readonly of: 'ephemeral'; readonly seconds: number };

export type MembersAction = 'add' | 'remove' | 'promote' | 'demote' | 'approve' | 'reject';

export interface GroupOperations {
  /** Creates a group. People are numbers or ids as a client writes them. `outcomes`: the people who could not be added. */
  'group.create': {
    readonly input: { readonly name: string; readonly people: readonly string[] };
    readonly answer: { readonly group: Group; readonly outcomes: readonly MemberOutcome[] };
  };
  /**
   * Returns a group, from memory unless `fresh`. `link`: include the code of the invite link. `requests`: include the people who asked to join. The
   * platform gives the code and these people to admins only. For all other members the code is absent and `requests` is null.
   */
  'group.get': {
    readonly input: { readonly groupId: string; readonly fresh: boolean; readonly link: boolean; readonly requests: boolean };
    readonly answer: { readonly group: Group; readonly requests: readonly Person[] | null };
  };
  /** Asks for all groups of the account, in one request. The groups are stored when the operation resolves. */
  'group.refresh': { readonly input: null; readonly answer: null };
  /** Returns the group of an invite link, without joining it. */
  'group.preview': { readonly input: { readonly code: string }; readonly answer: Group };
  /** Joins a group by the code of a link. `waits`: an admin has to approve first. `group` is null before the approval, or if the group is unknown. */
  'group.join': {
    readonly input: { readonly code: string };
    readonly answer: { readonly groupId: string; readonly group: Group | null; readonly waits: boolean };
  };
  'group.leave': { readonly input: { readonly groupId: string }; readonly answer: null };
  /** Returns the code of the link. `renew` creates a new code and makes the old one void. */
  'group.link': {
    readonly input: { readonly groupId: string; readonly renew: boolean };
    readonly answer: { readonly code: string; readonly group: Group | null };
  };
  /** Changes one setting. Returns the changed group; null if the group is unknown. */
  'group.change': { readonly input: { readonly groupId: string; readonly wish: GroupWish }; readonly answer: Group | null };
  /** Sets the picture of a group, a JPEG; null removes the picture. */
  'group.picture': { readonly input: { readonly groupId: string; readonly jpeg: Uint8Array | null }; readonly answer: Group | null };
  /** Adds, removes, promotes or demotes members, or decides on requests to join. Returns one outcome for each person. */
  'group.members': {
    readonly input: { readonly groupId: string; readonly action: MembersAction; readonly people: readonly string[] };
    readonly answer: { readonly group: Group | null; readonly outcomes: readonly MemberOutcome[] };
  };
}

/** Operations on communities. Ids are group ids. */
export interface CommunityOperations {
  /** Creates a community. The platform adds its announcement group, and a group in which all members talk. */
  'community.create': { readonly input: { readonly name: string }; readonly answer: { readonly group: Group } };
  /** Adds groups to a community, or removes groups from it. The answer lists each group as done or failed. */
  'community.edit': {
    readonly input: { readonly communityId: string; readonly action: 'add' | 'remove'; readonly groupIds: readonly string[] };
    readonly answer: { readonly done: readonly string[]; readonly failed: readonly string[] };
  };
}
