/** The LIDs of people, as the library's Signal sessions ask for them: several times for each message, through three caches of its own. */
import type { SocketConfig } from '@whiskeysockets/baileys';
import { createRecent } from './recent.ts';

type Mapping = ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'];

const kept = 500;

/** Answers what was answered before; every new pair makes it forget. */
export const rememberLids = (mapping: Mapping): void => {
  let known = createRecent<string>(kept);
  const look = mapping.getLIDForPN.bind(mapping);
  const store = mapping.storeLIDPNMappings.bind(mapping);
  const forget = (): void => {
    known = createRecent(kept);
  };
  mapping.getLIDForPN = async (pn) => {
    const remembered = known.get(pn);
    if (remembered !== undefined) return remembered;
    const current = known;
    const lid = await look(pn);
    if (lid !== null) current.set(pn, lid);
    return lid;
  };
  mapping.storeLIDPNMappings = (pairs) => store(pairs).finally(forget);
};
