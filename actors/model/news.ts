/** Facts that each make one event: changes of the connection, presence, calls, groups and labels. Calls, groups and labels are stored too. */
import type { Label } from './chat.ts';
import type { GroupChange } from './group.ts';
import type { Status } from './instance.ts';
import type { Person } from './person.ts';

/** A change of the connection that makes a `connection` event. */
/** How far linking with a passkey is. What the browser has to sign is asked for by `GET /instance/passkey`. */
export interface PasskeyNotice {
  readonly stage: 'assertion' | 'phone' | 'code';
  /** The code that the phone shows too, '' before there is one. */
  readonly code: string;
  /** When the stage ends by itself, Unix milliseconds. */
  readonly expiresAt: number;
}

export interface ConnectionChange {
  readonly status: Status;
  /** PNG data URL. */
  readonly qrcode?: string;
  /** The platform asks for the account's passkey. */
  readonly passkey?: PasskeyNotice;
  /** Unix milliseconds. */
  readonly lastDisconnect?: number;
  readonly reason?: string;
  readonly loggedOut?: boolean;
  /** The number before, when another account was paired. */
  readonly formerOwner?: string;
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
