/** Facts that each make one event: changes of the connection, presence, calls, groups and labels. Calls, groups and labels are stored too. */
import type { Label } from './chat.ts';
import type { GroupChange } from './group.ts';
import type { Status } from './instance.ts';
import type { Person } from './person.ts';

/** A change of the connection that makes a `connection` event. */
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
  /** `composing` means recording a voice message. */
  readonly recording: boolean;
  /** Unix milliseconds; null when the platform did not say. */
  readonly lastSeen: number | null;
}

export interface Call {
  readonly id: string;
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly caller: Person;
  /** `offer`, `accept`, `reject`, `timeout`, `terminate`; for a past call the platform's word for how it ended. */
  readonly status: string;
  readonly isVideo: boolean;
  /** Unix milliseconds. */
  readonly at: number;
  /** The call came while the session was not connected. Live calls only. */
  readonly offline?: boolean;
  /** Past calls only. */
  readonly fromMe?: boolean;
  readonly seconds?: number;
}

/** Discriminated by the type of the event. */
export type News =
  | { readonly type: 'connection'; readonly name: string; readonly connection: ConnectionChange }
  | { readonly type: 'presence'; readonly presence: PresenceChange }
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'groups'; readonly group: GroupChange }
  | { readonly type: 'labels'; readonly label: Label };
