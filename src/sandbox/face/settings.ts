/** Settings that a phone shares with its linked devices (the state of its chats, labels, the address book). */
import type { Digits } from './common.ts';

/** A setting on a phone that its linked devices share. `chat` is a number or the jid of a group. */
export type Setting =
  | { readonly kind: 'label'; readonly labelId: string; readonly name: string; readonly color: number; readonly deleted?: boolean }
  | { readonly kind: 'chatLabel'; readonly labelId: string; readonly chat: string; readonly on: boolean }
  | { readonly kind: 'archive' | 'pin' | 'read'; readonly chat: string; readonly on: boolean }
  /** `until`: Unix time in milliseconds; 0 ends the muting. */
  | { readonly kind: 'mute'; readonly chat: string; readonly until: number }
  /** Without a name the contact is removed from the address book. */
  | { readonly kind: 'contact'; readonly number: Digits; readonly name?: string };

/** What the owner of a phone changes on it. */
export interface SettingsFace {
  /** The phone's owner changes a setting that all linked devices share, including those that are linked later. */
  change(number: Digits, setting: Setting): Promise<void>;
}
