/** Settings that a phone shares with its linked devices (the state of its chats, labels, the address book, quick replies). */
import type { Digits } from './common.ts';

/** A setting that the owner of a phone changes. `chat` is a number or the jid of a group. */
export type Setting =
  | { readonly kind: 'label'; readonly labelId: string; readonly name: string; readonly color: number; readonly deleted?: boolean }
  | { readonly kind: 'chatLabel'; readonly labelId: string; readonly chat: string; readonly on: boolean }
  | { readonly kind: 'messageLabel'; readonly labelId: string; readonly chat: string; readonly messageId: string; readonly on: boolean }
  /** All labels in their new order. */
  | { readonly kind: 'labelOrder'; readonly labelIds: readonly string[] }
  | { readonly kind: 'archive' | 'pin' | 'read' | 'lock'; readonly chat: string; readonly on: boolean }
  /** `until`: the end of the muting, in Unix milliseconds; 0 ends it now, −1 mutes without an end. */
  | { readonly kind: 'mute'; readonly chat: string; readonly until: number }
  /** `delete` and `clear` remove all messages from the chat. `delete` also removes the chat itself. */
  | { readonly kind: 'delete'; readonly chat: string }
  | { readonly kind: 'clear'; readonly chat: string; readonly keepStarred?: boolean }
  | { readonly kind: 'star'; readonly chat: string; readonly messageId: string; readonly on: boolean }
  | { readonly kind: 'deleteForMe'; readonly chat: string; readonly messageId: string }
  /** Sets a contact of the address book. Without a name the contact is removed. */
  | { readonly kind: 'contact'; readonly number: Digits; readonly name?: string }
  | { readonly kind: 'quickReply'; readonly id: string; readonly shortcut: string; readonly message: string; readonly deleted?: boolean }
  /** A note about a chat; '' removes it. */
  | { readonly kind: 'note'; readonly chat: string; readonly text: string }
  /** All favourite chats, in their order. */
  | { readonly kind: 'favorites'; readonly chats: readonly string[] }
  | { readonly kind: 'statusMute'; readonly number: Digits; readonly on: boolean }
  | { readonly kind: 'pushName'; readonly name: string }
  | { readonly kind: 'locale'; readonly locale: string };

/** The settings of a chat on the phone. `chat`: a number or the jid of a group. Times are Unix times in milliseconds. */
export interface ChatSettings {
  readonly chat: string;
  readonly archived?: boolean;
  /** The time of the pin, in Unix milliseconds. */
  readonly pinnedAt?: number;
  /** True if the owner marked the chat as unread; false if the owner marked it as read. */
  readonly markedUnread?: boolean;
  /** The end of the muting; −1 if it has no end. */
  readonly mutedUntil?: number;
  readonly locked?: boolean;
  /** Messages up to this time are removed. */
  readonly clearedUntil?: number;
  /** True if starred messages stayed when the chat was cleared. */
  readonly keptStarred?: boolean;
  /** The time up to which messages were deleted together with the chat. */
  readonly deletedUntil?: number;
  readonly labels?: readonly string[];
  readonly note?: string;
  readonly favorite?: boolean;
  /** The time after which new messages of the chat disappear, in seconds. The last message about this setting defines it. 0: messages do not expire. */
  readonly disappearing?: number;
}

/** The settings of a message on the phone. */
export interface MessageSettings {
  readonly chat: string;
  readonly id: string;
  readonly starred?: boolean;
  readonly deletedForMe?: boolean;
  readonly labels?: readonly string[];
}

/** All shared settings of an account as its phone shows them. */
export interface SettingsView {
  readonly pushName?: string;
  readonly locale?: string;
  readonly chats: readonly ChatSettings[];
  readonly messages: readonly MessageSettings[];
  readonly labels: readonly { readonly id: string; readonly name: string; readonly color: number }[];
  readonly labelOrder?: readonly string[];
  readonly contacts: readonly { readonly number: Digits; readonly name: string; readonly onPhone: boolean }[];
  readonly quickReplies: readonly { readonly id: string; readonly shortcut: string; readonly message: string }[];
  /** People whose status posts are muted. */
  readonly mutedStatuses: readonly Digits[];
  /** Records that the platform stores and the phone ignores: an unknown action, a wrong collection, an unknown message. */
  readonly ignored: readonly { readonly collection: string; readonly index: readonly string[]; readonly reason: string }[];
  /** The version of each collection, which is the number of its patches. */
  readonly versions: Readonly<Record<string, number>>;
}

/** The changes of a phone's owner, and the settings that the phone shows. */
export interface SettingsMethods {
  /**
   * Changes settings on behalf of the phone's owner. All linked devices share them, including devices that are linked later. Devices get one
   * notification of all collections that changed.
   */
  change(number: Digits, ...settings: readonly Setting[]): Promise<void>;
  /** Returns the settings that the phone and its linked devices have made so far. */
  settings(number: Digits): SettingsView;
}
