/** The members of a group: their rights over messages of others, and the numbers of those who are named by LID alone. */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { type Group, includesPerson } from '#actors/model.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import { bare, type Directory, isGroup, isLid, personOf } from '../wire/jid.ts';
import type { BaileysEvent } from './library-values.ts';
import { unwrapped } from './message-kinds.ts';

// Rights of the members of a group over messages of others. The platform passes on every request, and leaves the decision to the
// apps.

const { Type } = proto.Message.ProtocolMessage;

/** True if a member deletes or pins a message in a group: then the stored members decide whether it counts. */
export const needsRight = ({ key, message }: WAMessage): boolean => {
  if (key.fromMe || !isGroup(key.remoteJid ?? '')) return false;
  const { protocolMessage, pinInChatMessage } = unwrapped(message) ?? {};
  return protocolMessage?.type === Type.REVOKE || Boolean(pinInChatMessage);
};

/** Admins delete messages of others. Every member pins, or the admins alone where they alone change the group. */
export const hasRight = ({ key, message }: WAMessage, group: Group | null, directory: Directory): boolean => {
  const sender = personOf(directory, key.participant, key.participantAlt);
  const member = group?.members.find((one) => includesPerson([one], sender));
  if (!group || !member) return false;
  const isPin = Boolean(unwrapped(message)?.pinInChatMessage);
  return member.isAdmin || member.isSuperAdmin || (isPin && group.locked !== true);
};

// Numbers of members who are named by LID alone. In a group that is addressed by LID, receipts and typing carry no number (messages do).
// The list of members has both addresses. Pairs are taken from there one by one, since those of all members of all groups would be many
// writes.

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
  const store = async (people: readonly Named[]): Promise<void> => {
    const pairs: AddressPair[] = [];
    for (const one of people) {
      const member = (await group(one.group))?.members.find(({ lid }) => lid === one.lid);
      if (member === undefined || member.pn === '') tried.set(nameOf(one), true);
      else pairs.push({ pn: member.pn, lid: member.lid });
    }
    if (pairs.length > 0) await pair(pairs);
  };
  return { missing, store };
};
