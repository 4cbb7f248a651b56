/** Changes that the owner of an account can make to a chat on a phone. The platform shares each with the phone and the other devices. */

export type ChatChange =
  /** Marks the chat as read, or as unread if `on` is false. */
  | { readonly kind: 'read'; readonly on: boolean }
  /** Archives the chat. An archived chat loses its pin. */
  | { readonly kind: 'archive'; readonly on: boolean }
  /** Pins the chat. A pinned chat leaves the archive. */
  | { readonly kind: 'pin'; readonly on: boolean }
  /** Mutes the chat. `until`: Unix milliseconds; 0 ends the muting, −1 mutes for ever. */
  | { readonly kind: 'mute'; readonly until: number }
  /** Removes all messages of the chat on the phone. */
  | { readonly kind: 'clear' }
  /** Deletes the chat with its messages on the phone. */
  | { readonly kind: 'delete' }
  /** Sets the owner's own note about a chat; '' removes the note. Business accounts only. */
  | { readonly kind: 'note'; readonly text: string };

/** The last message that a change of a chat covers. `at`: Unix milliseconds. */
export interface ChatEnd {
  readonly messageId: string;
  readonly fromMe: boolean;
  readonly sender: string;
  readonly at: number;
}
