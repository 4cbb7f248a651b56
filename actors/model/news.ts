/** What becomes an event of its own: changes of the connection, presence, calls, groups and labels, in the gateway's own words. Calls, groups and labels are stored too. */
import type { Label } from './chat.ts';
import type { GroupChange } from './group.ts';
import type { Status } from './instance.ts';
import type { Person } from './person.ts';

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

/** By the type of the event that it becomes. */
export type News =
  | { readonly type: 'connection'; readonly name: string; readonly connection: ConnectionChange }
  | { readonly type: 'presence'; readonly presence: PresenceChange }
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'groups'; readonly group: GroupChange }
  | { readonly type: 'labels'; readonly label: Label };
