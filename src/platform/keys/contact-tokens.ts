/**
 * Privacy tokens that contacts gave to the account (tctoken). A message to a contact without its token may be refused with 463. The library attaches the
 * token to first sends, presence subscriptions and pictures. It stores the tokens of notifications and of the history. The callers of this file handle all
 * other cases.
 */
import type { SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

type Store = Pick<SignalKeyStore, 'get' | 'set'>;
type Entry = SignalDataTypeMap['tctoken'];

export interface ContactToken {
  readonly token: Uint8Array;
  /** Unix time in seconds at which the contact issued it. */
  readonly at: number;
}

/** The key under which the library lists the people whose tokens it removes when they expire. */
const listKey = '__index';
/** A token is valid in the week of its issue and in the three weeks after it (tulir/whatsmeow `tctoken.go`). */
const week = 604_800;
const weeksValid = 4;

const isValid = ({ token, timestamp }: Entry, now: number): boolean =>
  token.length > 0 && Number(timestamp ?? 0) >= (Math.floor(now / 1000 / week) - (weeksValid - 1)) * week;

/** Returns the valid token of a contact, by its LID, or null. `now` is in milliseconds. */
export const tokenOf = async (keys: Store, lid: string, now: number): Promise<Uint8Array | null> => {
  const { [lid]: entry } = await keys.get('tctoken', [lid]);
  return entry && isValid(entry, now) ? entry.token : null;
};

/** Adds a contact to the list. */
const list = async (keys: Store, lid: string): Promise<void> => {
  const { [listKey]: stored } = await keys.get('tctoken', [listKey]);
  const names = stored?.token.length ? (JSON.parse(Buffer.from(stored.token).toString()) as string[]) : [];
  if (!names.includes(lid)) await keys.set({ tctoken: { [listKey]: { token: Buffer.from(JSON.stringify([...names, lid])) } } });
};

/** Stores a token that came with a message. An older one than the stored one is dropped. */
export const keepToken = async (keys: Store, lid: string, { token, at }: ContactToken): Promise<void> => {
  const { [lid]: known } = await keys.get('tctoken', [lid]);
  if (at <= Number(known?.timestamp ?? 0)) return;
  await keys.set({ tctoken: { [lid]: { ...known, token: Buffer.from(token), timestamp: String(at) } } });
  if (known === undefined) await list(keys, lid);
};
