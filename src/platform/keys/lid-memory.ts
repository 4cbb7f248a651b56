/** The LIDs of people, as the library's Signal sessions ask for them: several times for each message, through three caches of its own. */
import type { SocketConfig } from '@whiskeysockets/baileys';
import { createLruMap } from '#src/base/lru-map.ts';

type Mapping = ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'];

const kept = 500;
/** A look into a large group must find all its members again: two entries each. */
const cached = 10_000;

/**
 * The library's memory of pairs. Its own cache has a timer of three days for each pair. A pair that is found after the end of the connection, when the cache
 * was already cleared, would keep its timer until then.
 */
const makeCache = () => {
  let entries = createLruMap<string>(cached);
  return {
    get: (key: string) => entries.get(key),
    set: (key: string, value: string) => entries.set(key, value),
    clear: () => void (entries = createLruMap(cached)),
  };
};

/**
 * Answers what was answered before; every new pair makes it forget.
 *
 * `getLIDsForPNs` names a number without a LID by the number itself. The library asks it for the addresses whose keys it fetches, and fetched none for
 * such a number, so that nothing could be encrypted for it.
 */
export const rememberLids = (mapping: Mapping): void => {
  Object.assign(mapping, { mappingCache: makeCache() });
  let known = createLruMap<string>(kept);
  const lookAll = mapping.getLIDsForPNs.bind(mapping);
  const look = async (pn: string): Promise<string | null> => (await lookAll([pn]))?.[0]?.lid ?? null;
  const store = mapping.storeLIDPNMappings.bind(mapping);
  const forget = (): void => {
    known = createLruMap(kept);
  };
  mapping.getLIDForPN = async (pn) => {
    const remembered = known.get(pn);
    if (remembered !== undefined) return remembered;
    const current = known;
    const lid = await look(pn);
    if (lid !== null) current.set(pn, lid);
    return lid;
  };
  mapping.getLIDsForPNs = async (pns) => {
    const found = (await lookAll(pns)) ?? [];
    const named = new Set(found.map(({ pn }) => pn));
    return [...found, ...pns.filter((pn) => !named.has(pn)).map((pn) => ({ pn, lid: pn }))];
  };
  mapping.storeLIDPNMappings = (pairs) => store(pairs).finally(forget);
};
