/** What the library reports, as one type. */
import type { BaileysEventMap, BinaryNode } from '@whiskeysockets/baileys';
import type { SharedAction } from '../app-state/unread-action.ts';

/**
 * One event with its name, as a union that a switch can take apart. The last ones are ours: a record of the shared state that the library has no
 * event for, a contact whose phone has other keys than before, notifications of groups and channels, of which it reads only a part, and stanzas of posts of channels, of which it reads less.
 */
export type BaileysEvent =
  | { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap]
  | { readonly name: 'identity.changed'; readonly data: { readonly jid: string; /** Unix milliseconds. */ readonly at: number } }
  | { readonly name: 'app-state.action'; readonly data: SharedAction }
  | { readonly name: 'group.notification' | 'channel.notification' | 'channel.stanza'; readonly data: BinaryNode };
