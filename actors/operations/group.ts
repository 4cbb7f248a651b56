/** What the platform can be asked about groups. `groupId`: such as `120363153742561022@g.us`. */
import type { Group, Person } from '../model.ts';

/** The outcome for one person of a request. */
export interface MemberOutcome {
  readonly person: Person;
  /** The platform's code; 0: done. */
  readonly error: number;
  /** An invitation that can be sent to a person who could not be added. `expiresAt`: Unix milliseconds. */
  readonly invitation: { readonly code: string; readonly expiresAt: number } | null;
}

/** One setting of a group. */
export type GroupWish =
  | { readonly of: 'name' | 'description'; readonly text: string }
  | { readonly of: 'announce' | 'locked' | 'joinApproval'; readonly on: boolean }
  | { readonly of: 'whoAddsMembers'; readonly who: 'all' | 'admins' }
  /** Seconds; 0: messages stay. */
  | { readonly of: 'ephemeral'; readonly seconds: number };

export type MembersAction = 'add' | 'remove' | 'promote' | 'demote' | 'approve' | 'reject';

export interface GroupOperations {
  /** Creates a group. People are numbers or ids, as a client writes them. `outcomes`: the people who could not be added. */
  'group.create': {
    readonly input: { readonly name: string; readonly people: readonly string[] };
    readonly answer: { readonly group: Group; readonly outcomes: readonly MemberOutcome[] };
  };
  /**
   * A group, from memory unless `fresh`. `link`: with the code of its invite link; `requests`: with the people who asked to join. The platform gives both
   * to admins only; without them the code is left out, and `requests` is null.
   */
  'group.get': {
    readonly input: { readonly groupId: string; readonly fresh: boolean; readonly link: boolean; readonly requests: boolean };
    readonly answer: { readonly group: Group; readonly requests: readonly Person[] | null };
  };
  /** Asks for all groups of the account, in one request. They are stored when this resolves. */
  'group.refresh': { readonly input: null; readonly answer: null };
  /** The group behind a link, without joining it. */
  'group.preview': { readonly input: { readonly code: string }; readonly answer: Group };
  /** Joins by the code of a link. `group` is null while an admin has to approve, or when it is not known. */
  'group.join': {
    readonly input: { readonly code: string };
    readonly answer: { readonly groupId: string; readonly group: Group | null; readonly waits: boolean };
  };
  'group.leave': { readonly input: { readonly groupId: string }; readonly answer: null };
  /** The code of the link; with `renew` a new one, which makes the old one void. */
  'group.link': {
    readonly input: { readonly groupId: string; readonly renew: boolean };
    readonly answer: { readonly code: string; readonly group: Group | null };
  };
  /** Changes one setting. Answers with the group after the change, null where it is not known. */
  'group.change': { readonly input: { readonly groupId: string; readonly wish: GroupWish }; readonly answer: Group | null };
  /** Sets the picture of a group, a JPEG; null takes it away. */
  'group.picture': { readonly input: { readonly groupId: string; readonly jpeg: Uint8Array | null }; readonly answer: Group | null };
  /** Adds, removes and ranks members, or decides about requests to join; one outcome for each person. */
  'group.members': {
    readonly input: { readonly groupId: string; readonly action: MembersAction; readonly people: readonly string[] };
    readonly answer: { readonly group: Group | null; readonly outcomes: readonly MemberOutcome[] };
  };
}
