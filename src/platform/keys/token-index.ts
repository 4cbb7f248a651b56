/**
 * The list of people with a privacy token, which the library keeps under one key and writes whole for each new token (160 KB with 5,000 contacts). Here
 * it stands in pages, of which only those that changed are written.
 */
import { hash } from 'node:crypto';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

/** The library's key, among the tokens. */
const indexKey = '__index';
export const tokenPageType = 'gateway-token-page';
/** With 5,000 contacts a page has 5 KB. A start reads all pages with one query. */
const pages = 32;

type Page = readonly string[];
type Token = SignalDataTypeMap['tctoken'];

const pageIds = Array.from({ length: pages }, (_, at) => String(at));

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

/** Returns the store with the list in pages. A list that was stored whole is read until the next write. */
export const withTokenPages = (store: SignalKeyStore): SignalKeyStore => {
  /** The content of each page at its last read or write; null before. */
  let prints: string[] | null = null;
  let hasWhole = true;
  let writes = 0;

  const read = async (): Promise<Page> => {
    const begun = writes;
    const [whole, stored] = await Promise.all([
      store.get('tctoken', [indexKey]),
      // The store takes any type of key; the library's types do not name this one.
      store.get(tokenPageType as 'tctoken', [...pageIds]) as unknown as Promise<Readonly<Record<string, Page>>>,
    ]);
    // A read before a write says nothing about the pages after the write.
    if (begun === writes) {
      prints = pageIds.map((id) => printOf(stored[id] ?? []));
      hasWhole = whole[indexKey] !== undefined;
    }
    return [...new Set([...Object.values(stored).flat(), ...namesIn(whole[indexKey])])];
  };

  const changed = (names: Page): Readonly<Record<string, Page | null>> => {
    const now = inPages(names);
    const known = prints;
    prints = now.map(printOf);
    const different = pageIds.filter((_, at) => known === null || known[at] !== prints?.[at]);
    return Object.fromEntries(different.map((id) => [id, now[Number(id)]?.length ? (now[Number(id)] ?? null) : null]));
  };

  return {
    ...store,
    async get(type, ids) {
      if (type !== 'tctoken' || !ids.includes(indexKey)) return store.get(type, ids);
      const others = ids.filter((id) => id !== indexKey);
      const [found, names] = await Promise.all([others.length === 0 ? {} : store.get(type, others), read()]);
      const index: Token = { token: Buffer.from(JSON.stringify(names)) };
      return { ...found, ...(names.length === 0 ? {} : { [indexKey]: index }) } as Awaited<ReturnType<typeof store.get<typeof type>>>;
    },
    async set(data) {
      const { [indexKey]: index, ...tokens } = data.tctoken ?? {};
      if (index === undefined) return store.set(data);
      writes += 1;
      const whole = hasWhole ? { [indexKey]: null } : {};
      hasWhole = false;
      await store.set({ ...data, tctoken: { ...tokens, ...whole }, [tokenPageType]: changed(namesIn(index)) } as SignalDataSet);
    },
  };
};
