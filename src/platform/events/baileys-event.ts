/** The events of the library, as one type. */
import type { BaileysEventMap, BinaryNode } from '@whiskeysockets/baileys';
import type { LearnedPair } from './people.ts';
import type { SharedAction } from '../wire/unread-action.ts';

/**
 * One event with its name, as a union for a switch. The last members are not events of the library. Three of them are a contact whose phone has new keys, pairs of
 * number and LID that the library stored, and a record of the shared state without an event. The others are channel posts, and notifications of groups and channels that the library reads in part.
 */
export type BaileysEvent =
  | { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap]
  | { readonly name: 'identity.changed'; readonly data: { readonly jid: string; /** Unix milliseconds. */ readonly at: number } }
  | { readonly name: 'people.learned'; readonly data: readonly LearnedPair[] }
  | { readonly name: 'app-state.action'; readonly data: SharedAction }
  | { readonly name: 'group.notification' | 'channel.notification' | 'channel.stanza'; readonly data: BinaryNode };
