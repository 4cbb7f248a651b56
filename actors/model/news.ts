/** What becomes an event of its own: changes of the connection, presence, calls, groups and labels, in the gateway's own words. Only calls are stored too. */
import type { Label } from './chat.ts';
import type { Status } from './instance.ts';

/** Somebody whom the platform names. */
export interface Person {
  /** As the platform wrote it; '' when it named nobody. */
  readonly id: string;
  /** Phone jid and LID, '' for what is unknown. */
  readonly pn: string;
  readonly lid: string;
}

/** A change of the connection that integrators hear of. */
export interface ConnectionChange {
  readonly status: Status;
  /** PNG data URL. */
  readonly qrcode?: string;
  /** Unix milliseconds. */
  readonly lastDisconnect?: number;
  readonly reason?: string;
  readonly loggedOut?: boolean;
}

export interface PresenceChange {
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly who: Person;
  readonly fromMe: boolean;
  /** `available`, `unavailable`, `composing`, `paused`. */
  readonly state: string;
  /** Composing a voice message. */
  readonly recording: boolean;
  /** Unix milliseconds; null when the platform did not say. */
  readonly lastSeen: number | null;
}

export interface Call {
  readonly id: string;
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly caller: Person;
  /** `offer`, `accept`, `reject`, `timeout`, `terminate`; of past calls the platform's word for how it ended. */
  readonly status: string;
  readonly isVideo: boolean;
  /** Unix milliseconds. */
  readonly at: number;
  /** It came while the session was away. Of live calls only. */
  readonly offline?: boolean;
  /** Of past calls only. */
  readonly fromMe?: boolean;
  readonly seconds?: number;
}

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
  /** '' when it was removed. */
  readonly topic?: SetBy & { readonly text: string };
  /** Only admins may change its settings. */
  readonly locked?: boolean;
  /** Only admins may write. */
  readonly announce?: boolean;
  /** Seconds after which messages disappear; 0: never. */
  readonly ephemeral?: number;
  readonly joinApproval?: boolean;
  readonly inviteCode?: string;
  readonly whoAddsMembers?: 'all' | 'admins';
}

/** A whole group. */
export interface Group extends GroupSettings {
  readonly id: string;
  readonly owner: Person;
  /** Unix milliseconds; null when it is unknown. */
  readonly createdAt: number | null;
  readonly members: readonly GroupMember[];
}

/** Something happened in a group. */
export interface GroupChange {
  readonly groupId: string;
  readonly by: Person;
  readonly at: number;
  readonly change:
    | { readonly kind: 'settings'; readonly settings: GroupSettings }
    | { readonly kind: 'members'; readonly action: 'join' | 'leave' | 'promote' | 'demote'; readonly people: readonly Person[] }
    /** The account came into this group. */
    | { readonly kind: 'entered'; readonly group: Group };
}

/** By the type of the event that it becomes. */
export type News =
  | { readonly type: 'connection'; readonly name: string; readonly connection: ConnectionChange }
  | { readonly type: 'presence'; readonly presence: PresenceChange }
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'groups'; readonly group: GroupChange }
  | { readonly type: 'labels'; readonly label: Label };
