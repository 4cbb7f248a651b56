/** Groups, as their members make and change them. */
import type { Digits } from './common.ts';

/** A rule of a group. `approval`: admins confirm who joins. `adminAdd`: only admins add people. `ephemeral`: messages disappear after so many seconds (0: never). */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** Replaces the link by which people join. */
  | { readonly action: 'invite' };

/** Actions of members in a group. `approve`, `reject`: of people who asked to join. */
export type GroupChange =
  | { readonly action: 'add' | 'remove' | 'promote' | 'demote' | 'approve' | 'reject'; readonly participants: readonly Digits[] }
  | { readonly action: 'subject' | 'description'; readonly text: string }
  | GroupRule;

export interface GroupView {
  /** `…@g.us` */
  readonly jid: string;
  readonly subject: string;
  readonly description: string;
  readonly creator: Digits;
  readonly announce: boolean;
  readonly locked: boolean;
  /** True: admins confirm who joins. */
  readonly approval: boolean;
  /** True: only admins add people. */
  readonly adminAdd: boolean;
  /** Seconds after which messages disappear; 0: never. */
  readonly ephemeral: number;
  /** The code of the link. */
  readonly invite: string;
  /** The id of the picture. */
  readonly picture?: string;
  /** It is a community: a group of groups. */
  readonly isCommunity?: boolean;
  /** The community that it belongs to. */
  readonly parent?: string;
  /** The role of a group that the platform made for the community: its announcements, or the general group. */
  readonly role?: 'announcement' | 'general';
  /** People who asked to join. `at`: Unix time in milliseconds. */
  readonly requests: readonly { readonly number: Digits; readonly at: number; readonly method: string }[];
  /** People who could not be added and may be sent an invitation. `expiration`: Unix seconds. */
  readonly invited: readonly { readonly number: Digits; readonly code: string; readonly expiration: number }[];
  readonly participants: readonly { readonly number: Digits; readonly admin: 'admin' | 'superadmin' | null }[];
}

/** Groups, and actions of their members. */
export interface GroupsFace {
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** The form in which members are named on the wire. Absent: by number. */
    readonly addressing?: 'pn' | 'lid';
  }): Promise<GroupView>;
  updateGroup(jid: string, by: Digits, change: GroupChange): Promise<GroupView>;
  /** A person follows the link of a group. `joined` is false when an admin has to approve first. */
  joinGroup(number: Digits, code: string): Promise<{ readonly jid: string; readonly joined: boolean }>;
  /** Makes a community with its group of announcements; the answer is the community. */
  createCommunity(input: { readonly subject: string; readonly creator: Digits; readonly addressing?: 'pn' | 'lid' }): Promise<GroupView>;
  /** An admin puts groups into the community, or takes them out of it. Groups that the platform refuses have its code. */
  editCommunity(
    jid: string,
    by: Digits,
    change: { readonly action: 'link' | 'unlink'; readonly groups: readonly string[] },
  ): Promise<readonly { readonly jid: string; readonly error?: string }[]>;
  groups(): readonly GroupView[];
}
