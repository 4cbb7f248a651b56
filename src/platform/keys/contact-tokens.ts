/**
 * Privacy tokens (tctoken) that contacts gave to the account. A message to a contact without its token may be refused with 463. The library attaches the token
 * to the first send of a message, to presence subscriptions and to picture queries. It stores tokens from notifications and from the history. It does not
 * attach tokens to resends and to requests that add members to a group, and does not store tokens from messages. The callers of this file do this.
 */
import { hash } from 'node:crypto';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

type Store = Pick<SignalKeyStore, 'get' | 'set'>;
type Entry = SignalDataTypeMap['tctoken'];

export interface ContactToken {
  readonly token: Uint8Array;
  /** The time at which the contact issued the token. In Unix seconds. */
  readonly at: number;
}

/**
 * The id under which the library lists the people with a token. The list has the key type of the tokens. The library removes expired tokens of the listed
 * people.
 */
const listKey = '__index';
/** A token is valid in the week of its issue and in the three weeks after it (tulir/whatsmeow `tctoken.go`). `week`: in seconds. */
const week = 604_800;
const weeksValid = 4;

const isValid = ({ token, timestamp }: Entry, now: number): boolean =>
  token.length > 0 && Number(timestamp ?? 0) >= (Math.floor(now / 1000 / week) - (weeksValid - 1)) * week;

/** Returns the valid token of the contact with this LID; null if there is none. `now` is in milliseconds. */
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

/** Stores a token from a message, unless the stored token is newer. */
export const keepToken = async (keys: Store, lid: string, { token, at }: ContactToken): Promise<void> => {
  const { [lid]: known } = await keys.get('tctoken', [lid]);
  if (at <= Number(known?.timestamp ?? 0)) return;
  await keys.set({ tctoken: { [lid]: { ...known, token: Buffer.from(token), timestamp: String(at) } } });
  if (known === undefined) await list(keys, lid);
};

// The list of people with a privacy token. The library stores the list under one key, and writes the whole list for each new token (160 KB
// with 5,000 contacts). The gateway splits the list into pages, and writes only changed pages.

export const tokenPageType = 'gateway-token-page';
/** The number of pages. With 5,000 contacts a page has 5 KB. Each start of a session reads all pages (`warmTypes` in `auth-state.ts`). */
const pages = 32;

type Page = readonly string[];
type Token = SignalDataTypeMap['tctoken'];

const pageIds = Array.from({ length: pages }, (_, at) => String(at));
/** The cache keys of all pages, in the form `type id`. */
export const tokenPageKeys = pageIds.map((id) => `${tokenPageType} ${id}`);

const pageOf = (jid: string): number => {
  let sum = 0;
  for (let at = 0; at < jid.length; at += 1) sum = (Math.imul(sum, 31) + jid.charCodeAt(at)) >>> 0;
  return sum % pages;
};

const namesIn = (token: Token | null | undefined): Page => {
  const names: unknown = token?.token.length ? JSON.parse(Buffer.from(token.token).toString()) : [];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
};

const inPages = (names: Page): readonly Page[] => {
  const all: string[][] = pageIds.map(() => []);
  for (const name of names) all[pageOf(name)]?.push(name);
  return all.map((page) => page.toSorted());
};

const printOf = (page: Page): string => (page.length === 0 ? '' : hash('sha256', page.join(), 'base64url'));

/** The pages of the list in the store. */
class TokenPages {
  readonly #store: SignalKeyStore;
  /** The fingerprint of each page at its last read or write; null before the first read or write. */
  #prints: readonly string[] | null = null;
  #hasWhole = true;
  #writes = 0;

  constructor(store: SignalKeyStore) {
    this.#store = store;
  }

  async read(): Promise<Page> {
    const begun = this.#writes;
    const [whole, stored] = await Promise.all([
      this.#store.get('tctoken', [listKey]),
      // The store accepts any type of key, but the library's types do not include this type.
      this.#store.get(tokenPageType as 'tctoken', [...pageIds]) as unknown as Promise<Readonly<Record<string, Page>>>,
    ]);
    // If there was a write meanwhile, the result of the read is outdated, and must not replace the newer fingerprints.
    if (begun === this.#writes) {
      this.#prints = pageIds.map((id) => printOf(stored[id] ?? []));
      this.#hasWhole = whole[listKey] !== undefined;
    }
    return [...new Set([...Object.values(stored).flat(), ...namesIn(whole[listKey])])];
  }

  /** Writes the changed pages of the list `index`, the other tokens, and the rest of `data`. */
  async write(index: Token | null, tokens: SignalDataSet['tctoken'], data: SignalDataSet): Promise<void> {
    this.#writes += 1;
    const whole = this.#hasWhole ? { [listKey]: null } : {};
    this.#hasWhole = false;
    await this.#store.set({ ...data, tctoken: { ...tokens, ...whole }, [tokenPageType]: this.#changed(namesIn(index)) } as SignalDataSet);
  }

  #changed(names: Page): Readonly<Record<string, Page | null>> {
    const now = inPages(names);
    const [known, prints] = [this.#prints, now.map(printOf)];
    this.#prints = prints;
    const different = pageIds.filter((_, at) => known === null || known[at] !== prints[at]);
    return Object.fromEntries(different.map((id) => [id, now[Number(id)]?.length ? (now[Number(id)] ?? null) : null]));
  }
}

/** Returns a store that splits the list into pages. A list that was stored as a whole is still read, and is replaced at the next write. */
export const withTokenPages = (store: SignalKeyStore): SignalKeyStore => {
  const tokenPages = new TokenPages(store);
  return {
    ...store,
    async get(type, ids) {
      if (type !== 'tctoken' || !ids.includes(listKey)) return store.get(type, ids);
      const others = ids.filter((id) => id !== listKey);
      const [found, names] = await Promise.all([others.length === 0 ? {} : store.get(type, others), tokenPages.read()]);
      const index: Token = { token: Buffer.from(JSON.stringify(names)) };
      return { ...found, ...(names.length === 0 ? {} : { [listKey]: index }) } as Awaited<ReturnType<typeof store.get<typeof type>>>;
    },
    async set(data) {
      const { [listKey]: index, ...tokens } = data.tctoken ?? {};
      return index === undefined ? store.set(data) : tokenPages.write(index, tokens, data);
    },
  };
};
