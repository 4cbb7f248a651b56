/** Checks the rights of group members over messages of others, and finds the numbers of members that are named only by LID. */
import { setTimeout } from 'node:timers/promises';
import { proto, type WAMessage, type WAMessageKey } from '@whiskeysockets/baileys';
import { type Group, includesPerson } from '#actors/model.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { bare, type Directory, isGroup, isLid, personOf } from '../wire/jid.ts';
import { GroupUnknown, ifKnown } from '../wire/outcomes.ts';
import type { Reading } from './answers.ts';
import type { BaileysEvent } from './library-values.ts';
import { unwrapped } from './message-kinds.ts';

// The rights of group members over messages of others. The platform forwards every request, and the apps must check the rights.

const { Type } = proto.Message.ProtocolMessage;

/**
 * Returns true if a deletion names its sender as the author of the message. Such a deletion is recorded without the right of an admin, and the journal
 * compares its sender with the stored author. A sender who lies here therefore gains nothing.
 */
const namesSender = ({ participant, participantAlt }: WAMessageKey, target: proto.IMessageKey | null | undefined): boolean => {
  const author = bare(target?.participant);
  return target?.fromMe === true || (author !== '' && [bare(participant), bare(participantAlt)].includes(author));
};

/** Returns true if a member pins a message in a group, or deletes one of others. The rights of the member must then be checked. */
export const needsRight = ({ key, message }: WAMessage): boolean => {
  if (key.fromMe || !isGroup(key.remoteJid ?? '')) return false;
  const { protocolMessage, pinInChatMessage } = unwrapped(message) ?? {};
  return protocolMessage?.type === Type.REVOKE ? !namesSender(key, protocolMessage.key) : Boolean(pinInChatMessage);
};

/** Returns true if the sender has the right. Admins may delete messages of others. Members may pin, unless only admins may change the group. */
const hasRight = ({ key, message }: WAMessage, group: Group | null, directory: Directory): boolean => {
  const sender = personOf(directory, key.participant, key.participantAlt);
  const member = group?.members.find((one) => includesPerson([one], sender));
  if (!group || !member) return false;
  const isPin = Boolean(unwrapped(message)?.pinInChatMessage);
  return member.isAdmin || member.isSuperAdmin || (isPin && group.locked !== true);
};

/** The pauses before further queries of a group about which the platform did not answer. Later events of the session wait meanwhile. In milliseconds. */
const pauses = [1_000, 5_000, 15_000] as const;

/** The time after an unsuccessful series of queries. During this time, each event queries the same group only once, without pauses. In milliseconds. */
const givenUpMs = 60_000;

export class SenderRights {
  readonly #options: Pick<MemberNumbersOptions, 'group'> & { readonly directory: Directory };
  readonly #closing = new AbortController();
  /** For each group whose queries failed, the time until which each event queries it only once. */
  readonly #givenUp = new LruMap<number>(100);

  constructor(options: Pick<MemberNumbersOptions, 'group'> & { readonly directory: Directory }) {
    this.#options = options;
  }

  /** Reads the rights of the senders of messages. If the platform does not return a group, its members have no rights. */
  async read(messages: readonly WAMessage[]): Promise<ReadonlyMap<string, Reading>> {
    const read = new Map<string, Reading>();
    for (const message of messages) {
      const known = await this.#group(message.key.remoteJid ?? '');
      read.set(message.key.id ?? '', { permitted: hasRight(message, known, this.#options.directory) });
    }
    return read;
  }

  /** Ends all pauses. */
  giveUp(): void {
    this.#closing.abort();
  }

  async #group(jid: string): Promise<Group | null> {
    const isGivenUp = performance.now() < (this.#givenUp.get(jid) ?? 0);
    for (const ms of isGivenUp ? [] : pauses) {
      try {
        return await this.#options.group(jid);
      } catch (error) {
        if (!(error instanceof GroupUnknown)) throw error;
      }
      await setTimeout(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      // The closed pipeline does not record the event.
      if (this.#closing.signal.aborted) return null;
    }
    // This query is the last. If it fails too, the sender counts as a member without rights, so that one group does not delay the session for ever.
    const known = await ifKnown(this.#options.group(jid));
    if (known === null) this.#givenUp.set(jid, performance.now() + givenUpMs);
    return known;
  }
}

// The numbers of members that are named only by LID. In a group with LID addressing, receipts and presence name members only by LID, but messages give the
// phone number too. The list of members has both addresses. A pair is stored when it is first needed, because the pairs of all members of all groups would be
// many writes.

export interface AddressPair {
  readonly pn: string;
  readonly lid: string;
}

export interface MemberNumbersOptions {
  readonly directory: Pick<Directory, 'pn'>;
  /** Returns a group; null if neither the storage nor the platform has it. Rejects only with `StorageFailure` and `GroupUnknown`. */
  group(jid: string): Promise<Group | null>;
  /** Stores pairs of addresses, so that the directory knows them. */
  pair(pairs: AddressPair[]): Promise<unknown>;
}

interface Named {
  readonly group: string;
  readonly lid: string;
}

/**
 * The cache keeps at least this many members whose phone number was not found in their group, and at most twice as many. A cached member is not looked up again
 * on this connection.
 */
const triedKept = 1_000;

/** Returns the people that an event names only by LID, each with the group of the event. */
const namedIn = (event: Pick<BaileysEvent, 'name' | 'data'>): readonly Named[] => {
  const { name, data } = event as BaileysEvent;
  const named = (group: string | null | undefined, jids: readonly (string | null | undefined)[]): readonly Named[] =>
    isGroup(group ?? '') ? jids.map(bare).flatMap((lid) => (isLid(lid) ? [{ group: group ?? '', lid }] : [])) : [];
  if (name === 'message-receipt.update') return data.flatMap(({ key, receipt }) => named(key.remoteJid, [receipt.userJid]));
  return name === 'presence.update' ? named(data.id, Object.keys(data.presences)) : [];
};

const nameOf = (one: Named): string => `${one.group} ${one.lid}`;

export class MemberNumbers {
  readonly #options: MemberNumbersOptions;
  readonly #tried = new LruMap<true>(triedKept);

  constructor(options: MemberNumbersOptions) {
    this.#options = options;
  }

  /** Returns the people of an event whose numbers may be in the list of members. Call this after the stored pairs are loaded. */
  missing(event: Pick<BaileysEvent, 'name' | 'data'>): readonly Named[] {
    return namedIn(event).filter((one) => this.#options.directory.pn(one.lid) === '' && this.#tried.get(nameOf(one)) === undefined);
  }

  /** Finds and stores the numbers of these people. */
  async store(people: readonly Named[]): Promise<void> {
    const pairs: AddressPair[] = [];
    for (const one of people) {
      const member = (await ifKnown(this.#options.group(one.group)))?.members.find(({ lid }) => lid === one.lid);
      if (member === undefined || member.pn === '') this.#tried.set(nameOf(one), true);
      else pairs.push({ pn: member.pn, lid: member.lid });
    }
    if (pairs.length > 0) await this.#options.pair(pairs);
  }
}
