/** What the library reports, as one type. */
import type { BaileysEventMap } from '@whiskeysockets/baileys';

/** One event with its name, as a union that a switch can take apart. */
export type BaileysEvent = { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap];
