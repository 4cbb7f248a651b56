/** Groups, as their members make and change them. */
import type { Digits } from './common.ts';

/** A rule of a group. `approval`: admins confirm who joins. `adminAdd`: only admins add people. `ephemeral`: messages disappear after so many seconds (0: never). */
export type GroupRule =
  | { readonly action: 'announce' | 'locked' | 'approval' | 'adminAdd'; readonly on: boolean }
  | { readonly action: 'ephemeral'; readonly seconds: number }
  /** Replaces the link by which people join. */
  | { readonly action: 'invite' };

export interface GroupView {
  /** `…@g.us` */
  readonly jid: string;
  readonly subject: string;
  readonly description: string;
  readonly creator: Digits;
  readonly announce: boolean;
  readonly locked: boolean;
  readonly participants: readonly { readonly number: Digits; readonly admin: 'admin' | 'superadmin' | null }[];
}

/** Which groups there are, and what members do in them. */
export interface GroupsFace {
  createGroup(input: {
    readonly subject: string;
    readonly creator: Digits;
    readonly participants: readonly Digits[];
    /** How members are named on the wire. Absent: by number. */
    readonly addressing?: 'pn' | 'lid';
  }): Promise<GroupView>;
  updateGroup(
    jid: string,
    by: Digits,
    change:
      | { readonly action: 'add' | 'remove' | 'promote' | 'demote'; readonly participants: readonly Digits[] }
      | { readonly action: 'subject' | 'description'; readonly text: string }
      | GroupRule,
  ): Promise<GroupView>;
  groups(): readonly GroupView[];
}
