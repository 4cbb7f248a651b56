/** The pairs of number and LID that a session sees, as entries: a chat that began under the LID belongs to the number. */
import type { Entry, PersonPair } from '#actors/model.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import { type Directory, isMe } from '../wire/directory.ts';
import { bare, isLid, isPerson } from '../wire/jid.ts';

/** Pairs that are remembered. */
const kept = 10_000;
/** Time after which a pair is reported again: a message that was composed before the pair was known may have made a chat meanwhile. In milliseconds. */
const againMs = 3_600_000;

/** A pair as the library names it: two addresses, with or without a device. */
export interface AddressPair {
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
