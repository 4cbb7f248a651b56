/** Values of the library: its events as one type, protobuf messages as JSON, seen pairs of addresses, and records that the library ignores. */
import type { BaileysEventMap, BinaryNode, proto } from '@whiskeysockets/baileys';
import type { Entry, PersonPair } from '#actors/model.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { bare, type Directory, isLid, isMe, isPerson } from '../wire/jid.ts';

// The pairs of number and LID that a session sees. They become entries, because a chat that began under the LID belongs to the number.

/** The cache keeps at least this many pairs, and at most twice as many. */
const kept = 10_000;
/**
 * The time after which a pair is reported again. Meanwhile, a message that was sent before the pair was known may have created a chat under the LID. In
 * milliseconds.
 */
const againMs = 3_600_000;

/** A pair in the library's form: two addresses, with or without a device. */
interface AddressPair {
  readonly lid: string;
  readonly pn: string;
}

const chatsIn = (entry: Entry): readonly { readonly chatId: string; readonly chatLid?: string | undefined }[] => {
  if (entry.kind === 'message') return [entry.message];
  return entry.kind === 'chat' ? [entry.chat] : [];
};

export const fromAddressPairs = (pairs: readonly AddressPair[], directory: Directory): Entry[] => {
  const people = pairs
    .map(({ lid, pn }) => ({ chatId: bare(pn), chatLid: bare(lid) }))
    .filter(({ chatId, chatLid }) => isPerson(chatId) && isLid(chatLid) && !isMe(directory, chatId));
  return people.length === 0 ? [] : [{ kind: 'samePerson', people }];
};

const foundIn = (entry: Entry): readonly PersonPair[] =>
  chatsIn(entry).flatMap(({ chatId, chatLid = '' }) => (isPerson(chatId) && isLid(chatLid) ? [{ chatId, chatLid }] : []));

/** A filter that reports each pair at most once an hour. */
export class SeenPeople {
  readonly #now: () => number;
  readonly #seen = new LruMap<number>(kept);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Removes pairs that were reported within the last hour. If messages or chats contain new pairs, puts an entry with these pairs first. */
  applied(entries: readonly Entry[]): readonly Entry[] {
    const rest = entries.flatMap((entry): readonly Entry[] => {
      if (entry.kind !== 'samePerson') return [entry];
      const people = entry.people.filter((pair) => this.#isNew(pair));
      return people.length === 0 ? [] : [{ ...entry, people }];
    });
    const people = rest.flatMap(foundIn).filter((pair) => this.#isNew(pair));
    return people.length === 0 ? rest : [{ kind: 'samePerson', people }, ...rest];
  }

  #isNew({ chatId, chatLid }: PersonPair): boolean {
    const key = `${chatId} ${chatLid}`;
    const at = this.#seen.get(key);
    if (at !== undefined && Math.abs(this.#now() - at) < againMs) return false;
    this.#seen.set(key, this.#now());
    return true;
  }
}

// Records of the shared state for which the library has no event. The library only writes these records to its log. Its event of a deleted chat does not name
// the last deleted message, so the record of a deleted chat is read from this log too.

export interface SharedAction {
  /** The name of the action, followed by the ids of its subject. */
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
}

/** The log lines with records, and the actions that are taken from them. */
const taken: Readonly<Record<string, (name: string) => boolean>> = {
  'unprocessable update': () => true,
  'processing sync action': (name) => name === 'deleteChat',
};

/** Returns the record in a line of the library's log; undefined for a line without a wanted record. */
export const unreadActionOf = (fields: unknown, message: string | undefined): SharedAction | undefined => {
  const isTaken = message !== undefined && Object.hasOwn(taken, message) ? taken[message] : undefined;
  if (isTaken === undefined || typeof fields !== 'object' || fields === null || !('syncAction' in fields)) return undefined;
  const { syncAction, index } = fields.syncAction as { readonly syncAction?: proto.ISyncActionData; readonly index?: unknown };
  if (!Array.isArray(index) || !index.every((part) => typeof part === 'string') || !isTaken(index[0] ?? '')) return undefined;
  return { index, value: syncAction?.value ?? {} };
};

// The events of the library, as one type.

/**
 * An event with its name, as a union type for a switch. The last members are events of the gateway: new identity keys of a contact, pairs of number and
 * LID, records of the shared state, stanzas of channels, and notifications of groups and channels.
 */
export type BaileysEvent =
  | { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap]
  | { readonly name: 'identity.changed'; readonly data: { readonly jid: string; /** Unix milliseconds. */ readonly at: number } }
  | { readonly name: 'people.paired'; readonly data: readonly AddressPair[] }
  | { readonly name: 'app-state.action'; readonly data: SharedAction }
  | { readonly name: 'group.notification' | 'channel.notification' | 'channel.stanza'; readonly data: BinaryNode };

// The JSON form of a protobuf message, with the field names of the protocol.

interface LongNumber {
  toNumber(): number;
}

const isLong = (value: object): value is LongNumber => 'toNumber' in value && typeof value.toNumber === 'function';

/** Converts a count or a time of the protocol, which may be a number, a 64-bit integer or missing (0). */
export const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : 0;
  if (typeof value === 'object' && value !== null && isLong(value)) return value.toNumber();
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/**
 * Converts a value to JSON. Bytes become base64, and 64-bit integers become numbers. Absent fields and empty lists are left out. Levels deeper than 40 are cut
 * off. Messages of the protocol have about 20 levels.
 */
export const contentJson = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (isLong(value)) return value.toNumber();
  if (depth > 40) return null;
  if (Array.isArray(value)) return value.map((item) => contentJson(item, depth + 1));
  const json: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === undefined || (Array.isArray(field) && field.length === 0)) continue;
    // The library adds an empty `participant` to the keys of direct chats.
    if (name === 'participant' && field === '') continue;
    json[name] = contentJson(field, depth + 1);
  }
  return json;
};
