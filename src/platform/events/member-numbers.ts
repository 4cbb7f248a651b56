/**
 * Numbers of members who are named by LID alone. In a group that is addressed by LID, receipts and typing carry no number (messages do). The list of
 * members has both addresses. Pairs are taken from there one by one, since those of all members of all groups would be many writes.
 */
import type { Group } from '#actors/model.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import type { Directory } from '../wire/directory.ts';
import { bare, isGroup, isLid } from '../wire/jid.ts';
import type { BaileysEvent } from './baileys-event.ts';

export interface AddressPair {
  readonly pn: string;
  readonly lid: string;
}

export interface MemberNumbersOptions {
  readonly directory: Pick<Directory, 'pn'>;
  /** Null when neither the storage nor the platform tells. Never rejects. */
  group(jid: string): Promise<Group | null>;
  /** Stores pairs of addresses, so that the directory knows them. */
  pair(pairs: AddressPair[]): Promise<unknown>;
}

interface Named {
  readonly group: string;
  readonly lid: string;
}

/** Members without a number whose group was read. They are not looked for again in this connection. */
const triedKept = 1_000;

/** People whom an event names by LID alone, each with the group in which it happened. */
const namedIn = (event: Pick<BaileysEvent, 'name' | 'data'>): readonly Named[] => {
  const { name, data } = event as BaileysEvent;
  const named = (group: string | null | undefined, jids: readonly (string | null | undefined)[]): readonly Named[] =>
    isGroup(group ?? '') ? jids.map(bare).flatMap((lid) => (isLid(lid) ? [{ group: group ?? '', lid }] : [])) : [];
  if (name === 'message-receipt.update') return data.flatMap(({ key, receipt }) => named(key.remoteJid, [receipt.userJid]));
  return name === 'presence.update' ? named(data.id, Object.keys(data.presences)) : [];
};

export const createMemberNumbers = ({ directory, group, pair }: MemberNumbersOptions) => {
  const tried = createLruMap<true>(triedKept);
  const nameOf = (one: Named): string => `${one.group} ${one.lid}`;

  /** The people of an event whose numbers may be found in the list of members. Call it after the stored pairs were read. */
  const missing = (event: Pick<BaileysEvent, 'name' | 'data'>): readonly Named[] =>
    namedIn(event).filter((one) => directory.pn(one.lid) === '' && tried.get(nameOf(one)) === undefined);

  /** Finds and stores the numbers of these people. */
  const learn = async (people: readonly Named[]): Promise<void> => {
    const pairs: AddressPair[] = [];
    for (const one of people) {
      const member = (await group(one.group))?.members.find(({ lid }) => lid === one.lid);
      if (member === undefined || member.pn === '') tried.set(nameOf(one), true);
      else pairs.push({ pn: member.pn, lid: member.lid });
    }
    if (pairs.length > 0) await pair(pairs);
  };
  return { missing, learn };
};
