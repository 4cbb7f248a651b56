/** What the owner of an account can do with a chat on a phone; each is shared with the phone and the other devices. */

export type ChatChange =
  /** `on` false: marked as unread. */
  | { readonly kind: 'read'; readonly on: boolean }
  /** A chat that is archived loses its pin. */
  | { readonly kind: 'archive'; readonly on: boolean }
  /** A chat that is pinned leaves the archive. */
  | { readonly kind: 'pin'; readonly on: boolean }
  /** `until`: Unix milliseconds; 0 ends the muting, −1 is for ever. */
  | { readonly kind: 'mute'; readonly until: number }
  /** Takes all messages out of the chat on the phone. */
  | { readonly kind: 'clear' }
  /** Takes the chat away on the phone, with its messages. */
  | { readonly kind: 'delete' }
  /** The owner's own note about a chat; '' removes it. Accounts of businesses only. */
  | { readonly kind: 'note'; readonly text: string };

/** The message up to which a change of a chat reaches. `at`: Unix milliseconds. */
export interface ChatEnd {
  readonly messageId: string;
  readonly fromMe: boolean;
  readonly sender: string;
  readonly at: number;
}
