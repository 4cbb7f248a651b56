/** Values of the library: its events as one type, a protobuf message as JSON, and records of the shared state that it does not read. */
import type { BaileysEventMap, BinaryNode, proto } from '@whiskeysockets/baileys';
import type { Entry, PersonPair } from '#actors/model.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import { bare, type Directory, isLid, isMe, isPerson } from '../wire/jid.ts';

// The pairs of number and LID that a session sees, as entries: a chat that began under the LID belongs to the number.

/** Pairs that are remembered. */
const kept = 10_000;
/** Time after which a pair is reported again: a message that was composed before the pair was known may have made a chat meanwhile. In milliseconds. */
const againMs = 3_600_000;

/** A pair as the library names it: two addresses, with or without a device. */
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

/** Reports each pair once an hour. */
export const createSeenPeople = (now: () => number) => {
  const seen = createLruMap<number>(kept);
  const isNew = ({ chatId, chatLid }: PersonPair): boolean => {
    const key = `${chatId} ${chatLid}`;
    const at = seen.get(key);
    if (at !== undefined && Math.abs(now() - at) < againMs) return false;
    seen.set(key, now());
    return true;
  };
  const foundIn = (entry: Entry): readonly PersonPair[] =>
    chatsIn(entry).flatMap(({ chatId, chatLid = '' }) => (isPerson(chatId) && isLid(chatLid) ? [{ chatId, chatLid }] : []));
  return {
    /** Leaves out pairs that were reported, and puts an entry before the entries that show a new pair. */
    applied(entries: readonly Entry[]): readonly Entry[] {
      const rest = entries.flatMap((entry): readonly Entry[] => {
        if (entry.kind !== 'samePerson') return [entry];
        const people = entry.people.filter(isNew);
        return people.length === 0 ? [] : [{ ...entry, people }];
      });
      const people = rest.flatMap(foundIn).filter(isNew);
      return people.length === 0 ? rest : [{ kind: 'samePerson', people }, ...rest];
    },
  };
};

// Records of the shared state for which the library has no event, and how they are found: it mentions them in its log alone. Its event of a
// deleted chat does not say up to which message.

export interface SharedAction {
  /** The name of the action, followed by the ids of its subject. */
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
}

/** Selects the records that are taken from a line of the log. */
const taken: Readonly<Record<string, (name: string) => boolean>> = {
  'unprocessable update': () => true,
  'processing sync action': (name) => name === 'deleteChat',
};

/** The record that a line of the library's log is about; undefined for all other lines. */
export const unreadActionOf = (fields: unknown, message: string | undefined): SharedAction | undefined => {
  const isTaken = message !== undefined && Object.hasOwn(taken, message) ? taken[message] : undefined;
  if (isTaken === undefined || typeof fields !== 'object' || fields === null || !('syncAction' in fields)) return undefined;
  const { syncAction, index } = fields.syncAction as { readonly syncAction?: proto.ISyncActionData; readonly index?: unknown };
  if (!Array.isArray(index) || !index.every((part) => typeof part === 'string') || !isTaken(index[0] ?? '')) return undefined;
  return { index, value: syncAction?.value ?? {} };
};

// The events of the library, as one type.

/**
 * One event with its name, as a union for a switch. The last members are not events of the library. Three of them are new keys of a contact, pairs of
 * number and LID, and a record of the shared state without an event. The others are channel posts, and notifications of groups and channels that the
 * library reads in part.
 */
export type BaileysEvent =
  | { [T in keyof BaileysEventMap]: { readonly name: T; readonly data: BaileysEventMap[T] } }[keyof BaileysEventMap]
  | { readonly name: 'identity.changed'; readonly data: { readonly jid: string; /** Unix milliseconds. */ readonly at: number } }
  | { readonly name: 'people.paired'; readonly data: readonly AddressPair[] }
  | { readonly name: 'app-state.action'; readonly data: SharedAction }
  | { readonly name: 'group.notification' | 'channel.notification' | 'channel.stanza'; readonly data: BinaryNode };

// A protobuf message as JSON, with the field names of the protocol.

interface LongNumber {
  toNumber(): number;
}

const isLong = (value: object): value is LongNumber => 'toNumber' in value && typeof value.toNumber === 'function';

/** A count or a time of the protocol: a number, a 64-bit integer, or nothing (0). */
export const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : 0;
  if (typeof value === 'object' && value !== null && isLong(value)) return value.toNumber();
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Bytes are base64, 64-bit integers numbers, absent fields and empty lists left out. Messages of the protocol nest at most some 20 deep; below 40 it is cut. */
export const contentJson = (value: unknown, depth = 0): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (isLong(value)) return value.toNumber();
  if (depth > 40) return null;
  if (Array.isArray(value)) return value.map((item) => contentJson(item, depth + 1));
  const json: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === undefined || (Array.isArray(field) && field.length === 0)) continue;
    // The library writes one without a value into the keys of direct chats.
    if (name === 'participant' && field === '') continue;
    json[name] = contentJson(field, depth + 1);
  }
  return json;
};
