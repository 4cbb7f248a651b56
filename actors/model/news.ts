/** Facts with one event each: changes of the connection, presence, calls, groups and labels. Calls, groups and labels are also stored. */
import type { Label } from './chat.ts';
import type { GroupChange, Person } from './people.ts';
import type { Status } from './instance.ts';

/** The progress of linking with a passkey. `GET /instance/passkey` returns the challenge for the browser. */
export interface PasskeyNotice {
  readonly stage: 'assertion' | 'phone' | 'code';
  /** The code that the phone also shows; '' before there is one. */
  readonly code: string;
  /** The time at which the stage times out. In Unix milliseconds. */
  readonly expiresAt: number;
}

/** A change of the connection, which makes a `connection` event. */
export interface ConnectionChange {
  readonly status: Status;
  /** PNG data URL. */
  readonly qrcode?: string;
  /** The current stage of linking; absent unless the platform asks for the account's passkey. */
  readonly passkey?: PasskeyNotice;
  /** The time of the last disconnect. In Unix milliseconds. */
  readonly lastDisconnect?: number;
  readonly reason?: string;
  readonly loggedOut?: boolean;
  /** The former number, if another account was paired. */
  readonly formerOwner?: string;
}

export interface PresenceChange {
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly who: Person;
  readonly fromMe: boolean;
  /** `available`, `unavailable`, `composing`, `paused`. */
  readonly state: string;
  /** True if `composing` means recording a voice message. */
  readonly recording: boolean;
  /** The time at which the person was last online; null if the platform left it out. In Unix milliseconds. */
  readonly lastSeen: number | null;
}

export interface Call {
  readonly id: string;
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly caller: Person;
  /** `offer`, `accept`, `reject`, `timeout` or `terminate`. For a past call, the platform's word for its outcome. */
  readonly status: string;
  readonly isVideo: boolean;
  /** The time of the call. In Unix milliseconds. */
  readonly at: number;
  /** True if a live call came while the session was not connected. Absent for past calls. */
  readonly offline?: boolean;
  /** Set for past calls only. */
  readonly fromMe?: boolean;
  readonly seconds?: number;
}

/** A fact, discriminated by the type of its event. */
export type News =
  | { readonly type: 'connection'; readonly name: string; readonly connection: ConnectionChange }
  | { readonly type: 'presence'; readonly presence: PresenceChange }
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'groups'; readonly group: GroupChange }
  | { readonly type: 'labels'; readonly label: Label };
