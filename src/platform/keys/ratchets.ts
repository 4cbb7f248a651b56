/**
 * Makes each encryption and decryption a separate step. Steps run one after the other, and the changes of a step reach the key writer before its frame leaves.
 *
 * By itself, the library commits the ratchet of a message only after the frame is written, together with all other changes of the send. The changes of a
 * message that arrives meanwhile could be lost, or could undo those of the send. After a kill, the stored chain would be far behind.
 */
import { hash } from 'node:crypto';
import {
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalKeyStoreWithTransaction,
  type SocketConfig,
} from '@whiskeysockets/baileys';
import { LruMap } from '#src/base/lru-map.ts';
import { ForgedKeys } from '../wire/signatures.ts';
import type { KeyJudge } from './forged-keys.ts';

// The LIDs of people for the library's Signal sessions. The library looks them up several times for each message, and goes through three
// caches each time.

type Mapping = ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'];

/** The cache keeps the LIDs of at least this many numbers, and of at most twice as many. */
const kept = 500;
/**
 * The cache of pairs keeps at least this many entries, and at most twice as many. The cache must have room for all members of a large group, with two entries
 * each.
 */
const cached = 10_000;

/**
 * The cache of pairs for the library. It replaces the library's own cache, which has a timer of three days for each pair. At the end of the connection that
 * cache is cleared, but the timer of a pair that is found later would keep running.
 */
class PairCache {
  #entries = new LruMap<string>(cached);

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: string): void {
    this.#entries.set(key, value);
  }

  clear(): void {
    this.#entries = new LruMap(cached);
  }
}

/**
 * Caches the LIDs that `getLIDForPN` finds. Every call that stores pairs clears the cache. For a number without a LID, `getLIDsForPNs` returns the number
 * itself. The library uses this function for the addresses whose keys it fetches. Without this change it fetches no keys for such a number, and cannot encrypt
 * messages.
 */
export const rememberLids = (mapping: Mapping): void => {
  Object.assign(mapping, { mappingCache: new PairCache() });
  let known = new LruMap<string>(kept);
  const lookAll = mapping.getLIDsForPNs.bind(mapping);
  const look = async (pn: string): Promise<string | null> => (await lookAll([pn]))?.[0]?.lid ?? null;
  const store = mapping.storeLIDPNMappings.bind(mapping);
  const forget = (): void => {
    known = new LruMap(kept);
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

// The merge of sessions. When the library learns that a number and a LID are one person, it moves the sessions from the number to the LID, and overwrites
// those under the LID. The contact may continue to use either session. Messages of an overwritten session cannot be decrypted, so both are kept.

interface StoredSession {
  readonly indexInfo: { readonly used: number; readonly closed: number };
}

/** The library's record of the sessions with an address. At most one of them is open. */
interface StoredRecord {
  readonly _sessions: Readonly<Record<string, StoredSession>>;
}

const open = -1;

const isRecord = (value: unknown): value is StoredRecord => typeof value === 'object' && value !== null && '_sessions' in value;

/** Adds the sessions of `there` to `moved` as closed sessions, which only decrypt. If a session is in both, its newer state is kept. */
const mergeRecords = (moved: unknown, there: unknown, now: number): unknown => {
  if (!isRecord(moved) || !isRecord(there)) return moved;
  const sessions: Record<string, StoredSession> = { ...moved._sessions };
  for (const [name, session] of Object.entries(there._sessions)) {
    const { indexInfo } = session;
    const same = sessions[name];
    if (same === undefined)
      sessions[name] = { ...session, indexInfo: { ...indexInfo, closed: indexInfo.closed === open ? now : indexInfo.closed } };
    else if (indexInfo.used > same.indexInfo.used)
      sessions[name] = { ...session, indexInfo: { ...indexInfo, closed: same.indexInfo.closed } };
  }
  return { ...moved, _sessions: sessions };
};

/** One encryption or decryption. */
export interface Step {
  /** True if the step makes keys with which the contact encrypts its answers. They must be stored before a frame announces them. */
  readonly fresh: boolean;
  /** The changed keys. */
  readonly touched: [type: string, id: string][];
}

export interface RatchetHost {
  /** Returns the plaintext of a ciphertext that was decrypted before, by the hash of the ciphertext. */
  plaintext(hash: string): Uint8Array | undefined;
  get(type: string, ids: readonly string[]): Promise<Record<string, unknown>>;
  /** Changes keys. `data` must contain all changes of `step`. */
  set(data: SignalDataSet, step?: Step): void;
  /** Resolves when the frame of this step may leave. */
  mayLeave(step: Step): Promise<void>;
}

/** The key type under which plaintexts are stored, by the hash of their ciphertext. */
export const plainType = 'inbound-plain';
export const hashOf = (content: Uint8Array | string): string => hash('sha256', content, 'base64url');

/** Types that do not belong to steps. Their changes are set at once. */
const outsideSteps: ReadonlySet<string> = new Set(['lid-mapping', 'device-list']);

/** The used fields of a session record in libsignal's stored form. */
interface StoredSessions {
  readonly _sessions: Readonly<Record<string, { readonly indexInfo: { readonly remoteIdentityKey: string } }>>;
}

/**
 * Returns the addresses whose known identity key these changes replace. An address counts if the same changes delete its session, because the library
 * deletes the session of a replaced key. An address also counts if all its stored sessions have another key. The key of a contact that never sent a message
 * is only in the session.
 */
const replacedIn = async (data: SignalDataSet, get: RatchetHost['get']): Promise<readonly string[]> => {
  const keys = Object.entries(data['identity-key'] ?? {});
  const others = keys.filter(([address, key]) => key !== null && data.session?.[address] !== null).map(([address]) => address);
  const stored = others.length === 0 ? {} : await get('session', others);
  return keys.flatMap(([address, key]) => {
    if (key === null) return [];
    if (data.session?.[address] === null) return [address];
    const sessions = Object.values((stored[address] as StoredSessions | undefined)?._sessions ?? {});
    const text = Buffer.from(key).toString('base64');
    return sessions.length > 0 && sessions.every(({ indexInfo }) => indexInfo.remoteIdentityKey !== text) ? [address] : [];
  });
};

/** Drops the value of a step. It is a plaintext, and the promise of the last step would keep it in the memory of an idle session. */
const nothing = (): undefined => undefined;

/**
 * Runs steps one after the other. A step sees its own changes. The changes of a failed step are dropped. The library's transactions do the same, but need
 * two locks and an asynchronous context for every read of a key, which is too slow for every message.
 */
class RatchetSteps {
  readonly #host: RatchetHost;
  readonly #identityReplaced: (address: string) => void;
  #last: Promise<unknown> = Promise.resolve();
  #changes: Record<string, Record<string, unknown>> | null = null;
  /** Addresses whose known identity key was replaced in this step. */
  #replaced: string[] = [];
  /** True while moved sessions are merged with existing ones. */
  #merging = false;
  readonly keys: SignalKeyStoreWithTransaction;

  constructor(host: RatchetHost, identityReplaced: (address: string) => void) {
    this.#host = host;
    this.#identityReplaced = identityReplaced;
    const get: RatchetHost['get'] = (type, ids) => this.#get(type, ids);
    this.keys = {
      // The cast is safe. The library derives the type of the result from the name of the key type.
      get: get as SignalKeyStoreWithTransaction['get'],
      set: async (data) => {
        if (data['identity-key']) this.#replaced.push(...(await replacedIn(data, get)));
        for (const [type, values = {}] of Object.entries(data))
          this.#set(type, this.#merging && type === 'session' ? await this.#merged(values) : values);
      },
      transaction: (work) => work(),
      isInTransaction: () => this.#changes !== null,
    };
  }

  run<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      const mine = (this.#changes = {});
      this.#replaced = [];
      try {
        const value = await work();
        this.#host.set(mine, step);
        for (const address of this.#replaced) this.#identityReplaced(address);
        return value;
      } finally {
        this.#changes = null;
      }
    });
    this.#last = result.then(nothing, nothing);
    return result;
  }

  async merge<T>(work: () => Promise<T>): Promise<T> {
    this.#merging = true;
    try {
      return await work();
    } finally {
      this.#merging = false;
    }
  }

  async #get(type: string, ids: readonly string[]): Promise<Record<string, unknown>> {
    const changed = this.#changes?.[type];
    if (changed === undefined) return this.#host.get(type, ids);
    const found = Object.entries(changed).filter(([id, value]) => (value ?? null) !== null && ids.includes(id));
    const others = ids.filter((id) => !(id in changed));
    return { ...(others.length === 0 ? {} : await this.#host.get(type, others)), ...Object.fromEntries(found) };
  }

  #set(type: string, values: Record<string, unknown>): void {
    if (this.#changes === null || outsideSteps.has(type)) this.#host.set({ [type]: values } as SignalDataSet);
    else this.#changes[type] = { ...this.#changes[type], ...values };
  }

  async #merged(values: Record<string, unknown>): Promise<Record<string, unknown>> {
    const there = await this.#get('session', Object.keys(values));
    const entries = Object.entries(values).map(([id, value]) => [id, mergeRecords(value, there[id], Date.now())] as const);
    return Object.fromEntries(entries);
  }
}

type Make = SocketConfig['makeSignalRepository'];

/** Returns a Signal repository for the library. `identityReplaced` gets the address of a session after a message with a changed identity key. */
export const ratchetsOf =
  (host: RatchetHost, judge: KeyJudge, identityReplaced: (address: string) => void): Make =>
  (auth, logger, pnToLid) => {
    const steps = new RatchetSteps(host, identityReplaced);
    const { keys } = steps;
    const inner = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ ...auth, keys }, logger, pnToLid);
    rememberLids(inner.lidMapping);
    const alone = <T>(fresh: boolean, work: () => Promise<T>): Promise<T> => steps.run({ fresh, touched: [] }, work);

    /**
     * Decrypts a ciphertext, or returns its plaintext from an earlier call. The plaintext and the ratchet are stored in one transaction, because a
     * ciphertext cannot be decrypted twice.
     */
    const opened = async (ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>): Promise<Uint8Array> => {
      const id = hashOf(ciphertext);
      const known = host.plaintext(id);
      if (known !== undefined) return known;
      const work = async (): Promise<Uint8Array> => {
        const plain = await decrypt();
        await keys.set({ [plainType]: { [id]: plain } } as SignalDataSet);
        return plain;
      };
      return alone(true, work);
    };

    const sealed = async <T>(encrypt: () => Promise<T>): Promise<T> => {
      const step: Step = { fresh: false, touched: [] };
      const result = await steps.run(step, encrypt);
      await host.mayLeave(step);
      return result;
    };

    /** Makes a session. A device with forged keys gets no session and no message. The other receivers get the message. */
    const withKeys: typeof inner.injectE2ESession = async (options) => {
      try {
        await alone(true, () => inner.injectE2ESession(options));
        judge.judged(options.jid, false);
      } catch (error) {
        if (!(error instanceof ForgedKeys)) throw error;
        judge.judged(options.jid, true);
      }
    };

    return {
      ...inner,
      decryptMessage: (options) => opened(options.ciphertext, () => inner.decryptMessage(options)),
      decryptGroupMessage: (options) => opened(options.msg, () => inner.decryptGroupMessage(options)),
      encryptMessage: (options) => sealed(() => inner.encryptMessage(options)),
      encryptGroupMessage: (options) => sealed(() => inner.encryptGroupMessage(options)),
      getSenderKeyDistributionMessage: (options) => sealed(() => inner.getSenderKeyDistributionMessage(options)),
      processSenderKeyDistributionMessage: (options) => alone(false, () => inner.processSenderKeyDistributionMessage(options)),
      injectE2ESession: withKeys,
      migrateSession: (from, to) => alone(false, () => steps.merge(() => inner.migrateSession(from, to))),
      deleteSession: (jids) => alone(false, () => inner.deleteSession(jids)),
    };
  };
