/** What the library reports, as one type. */
import type { BaileysEventMap, BinaryNode } from '@whiskeysockets/baileys';
import type { SharedAction } from '../app-state/unread-action.ts';

/**
 * One event with its name, as a union that a switch can take apart. The last two are ours: a record of the shared state that the library has no
 * event for, and the notification of a group, of which it reads only a part.
 */
export type BaileysEvent =
  | { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap]
  | { readonly name: 'app-state.action'; readonly data: SharedAction }
  | { readonly name: 'group.notification'; readonly data: BinaryNode };
