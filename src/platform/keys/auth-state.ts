/**
 * The credentials and the Signal keys of one session. The library reads and changes them in memory, and a write-behind stores them in the vault.
 *
 * All changes go through `set`, and `durable` resolves when all earlier changes are stored. The guarantees against loss depend on these two methods.
 */
import type { AuthenticationCreds, AuthenticationState, SignalDataSet, SignalDataTypeMap } from '@whiskeysockets/baileys';
import type { Log } from '#actors/ports.ts';
import { decodeCredentials, decodeKey, encodeCredentials, encodeKey } from './key-codec.ts';
import { unstoredSends } from './unclean-runs.ts';
import { finishedType, type Page } from './finished-names.ts';
import { InboundLog } from './inbound-log.ts';
import { type DeviceMap, memoryType, readMaps, type WantedMaps } from './group-maps.ts';
import { createKeyWriter, type KeyWriter } from './key-writer.ts';
import { type PatchNotes, patchType, StoredPatchNotes, versionKeys, versionType } from './patch-notes.ts';
import { CorruptCredentials, StorageRetry, type Vault } from '../wire/vault-port.ts';
import { type FreshPreKeys, makeCredentials } from './pairing-keys.ts';
import { plainType, type RatchetHost, type Step } from './ratchets.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { runId, type RunNote, Runs, runType } from './unclean-runs.ts';
import { tokenPageKeys, tokenPageType, withTokenPages } from './contact-tokens.ts';

export interface AuthState {
  readonly state: AuthenticationState;
  /** The log of arrived messages that may not be stored yet. */
  readonly inbound: InboundLog;
  readonly ratchets: RatchetHost;
  /** Schedules a write of the credentials, which Baileys changes in place. */
  saveCredentials(): void;
  /** Writes the credentials. Resolves when they are stored, and rejects if they never will be. */
  storeCredentials(): Promise<void>;
  /** Returns the value of a key from memory. Returns null if the key does not exist, and undefined if the vault must be read. */
  peek<T extends keyof SignalDataTypeMap>(type: T, id: string): SignalDataTypeMap[T] | null | undefined;
  /** Loads keys into memory, with at most one query. Waits while the storage is unavailable or busy. With `now`, rejects with `StorageFailure` instead. */
  load(type: keyof SignalDataTypeMap, ids: readonly string[], when?: 'now'): Promise<void>;
  /** Reads, for each group, the devices that have the account's sender key. Does not cache the result. Waits while the storage is unavailable. */
  groupMaps(wanted: WantedMaps): Promise<ReadonlyMap<string, DeviceMap>>;
  /** Returns the ids of keys in the vault that begin with `prefix`. Waits while the storage is unavailable. */
  storedIds(type: keyof SignalDataTypeMap, prefix: string): Promise<readonly string[]>;
  /** Notes that the library issued a privacy token to a person (by LID if known) after a message. `at`: Unix milliseconds. */
  tokenIssued(jid: string, at: number): void;
  /**
   * Delays the storing of versions of the shared state. After a version is set, `stored` is called. The version is stored when `stored` resolves with true. If
   * `stored` resolves with false, the old version stays stored. The platform sends only changes after the stored version, so the changes of a version must be
   * stored before the version.
   */
  holdVersions(stored: () => Promise<boolean>): void;
  readonly patches: PatchNotes;
  /** Resolves when all earlier changes are stored. Rejects if they never will be. */
  durable(): Promise<void>;
  /** Waits until all changes and the entries of all finished messages are stored. Then marks the run as ended. */
  settled(): Promise<void>;
  /** True if all changes are stored. */
  readonly clean: boolean;
  /** Removes the one-time keys of a pairing from memory. Call this after their upload. */
  releaseFreshKeys(): void;
  /**
   * Rejects reads that wait for the storage. Call this at the end of a connection. Otherwise the messages of the ended connection would be handled together
   * with those of the next connection.
   */
  giveUpReads(): void;
  /** Ends the use of this state. Later changes, such as those by listeners of a closed connection, are dropped. */
  retire(): void;
}

interface AuthOptions {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly preKeys: (count: number) => Promise<Uint8Array>;
  readonly log: Log;
  /** True if the last connection crashed, or if this is the first connection of this process. */
  readonly suspicious?: boolean;
  readonly now?: () => number;
  onLost(error: unknown): void;
}

/**
 * The cache keeps at least this many keys if they fit into `cacheBytes`, and at most twice as many. A key that is known not to exist counts too. An idle
 * session has a few dozen keys. A busy session has the keys of the last hours.
 */
const cacheLimit = 500;
/**
 * The cache has at most twice this size plus one key, in bytes of the stored texts. A Signal session has 0.9 to 1.4 KB, so 500 of them fit. Values of busy
 * groups are larger: the map of a group of 500 has 17 KB, and a sender key with skipped messages has up to 200 KB.
 */
const cacheBytes = 1024 * 1024;
/** Types with few keys, which a session needs first. Every start reads all of them with one query. */
const warmTypes = [versionType, tokenPageType, 'app-state-sync-key', runType, plainType, finishedType, patchType] as const;
/** Returns the number of the week of a Unix time in seconds. A person gets a privacy token at most once in each week. */
const weekOf = (seconds: number): number => Math.floor(seconds / 604_800);

type KeyType = keyof SignalDataTypeMap;

/** The keys of one session. A read looks into the cache, the waiting writes and the vault, in this order. */
class SessionKeys {
  readonly writer: KeyWriter;
  readonly inbound: InboundLog;
  readonly #vault: Vault;
  readonly #instance: string;
  readonly #cache = new LruMap<unknown>(cacheLimit, cacheBytes);
  readonly #storageRetry: StorageRetry;
  #fresh: FreshPreKeys | null;
  #runs: Runs;
  /** The number of devices in each map of `memoryType` that the library got or set. */
  readonly #devices = new WeakMap<object, number>();
  /** The number of the last change at each unstored send, the oldest first. At most `unstoredSends` messages may leave before their changes are stored. */
  #sends: number[] = [];
  /** The number of the last change that must be stored before a message leaves. Such changes mark the open run, or move chains forward after a kill. */
  #storedFirst = 0;
  /** See `AuthState.holdVersions`. */
  #versionStored: (() => Promise<boolean>) | null = null;
  #held: Promise<void> = Promise.resolve();
  readonly patches = new StoredPatchNotes(
    () => this.writer,
    (work) => this.#afterStored(work),
  );
  #holding = 0;

  constructor(options: AuthOptions, creds: AuthenticationCreds, fresh: FreshPreKeys | null) {
    this.#vault = options.vault;
    this.#instance = options.instance;
    this.#storageRetry = new StorageRetry(options.log, options.instance);
    this.#fresh = fresh;
    this.writer = createKeyWriter({
      ...options,
      encode: (type, id, value) => this.#encoded(type, id, value),
      credentials: () => encodeCredentials(creds),
    });
    this.#runs = this.#makeRuns(null);
    this.inbound = new InboundLog({
      suspicious: true,
      now: Date.now,
      ...options,
      writer: this.writer,
      failed: (error) => options.onLost(error),
    });
  }

  /**
   * Encodes a value for the vault, and reports its size to the cache. Before this call the cache counts the size as 0, because until then the writer holds the
   * value in memory anyway.
   */
  #encoded(type: string, id: string, value: unknown): string {
    const text = encodeKey(this.#runs.stamp(type, value));
    this.#cache.weigh(`${type} ${id}`, text.length);
    return text;
  }

  peek(type: KeyType, id: string): unknown {
    // One-time keys are not cached, because they are read only once. The keys of an unfinished pairing stay in memory.
    const remembered = type === 'pre-key' ? undefined : this.#cache.get(`${type} ${id}`);
    if (remembered !== undefined) return remembered;
    const waits = this.writer.peek(type, id);
    return waits === undefined && type === 'pre-key' ? this.#fresh?.get(id) : waits;
  }

  async get(type: KeyType, ids: readonly string[]): Promise<Record<string, unknown>> {
    const known: Record<string, unknown> = {};
    const missing: string[] = [];
    for (const id of ids) {
      const value = this.peek(type, id);
      if (value === undefined) missing.push(id);
      else if (value !== null) known[id] = value;
    }
    const found = missing.length === 0 ? [] : await this.fetch(type, missing);
    for (const [id, value] of found) if (value !== null) known[id] = value;
    return type === memoryType ? this.#copied(known) : known;
  }

  /** Copies maps, because the library adds receivers to its map before the send. A failed send must leave the cached map unchanged. */
  #copied(maps: Record<string, unknown>): Record<string, unknown> {
    const copies = Object.entries(maps).map(([group, map]) => [group, { ...(map as DeviceMap) }] as const);
    for (const [, copy] of copies) this.#isWritten(copy);
    return Object.fromEntries(copies);
  }

  set(data: SignalDataSet, step: Step | null = null): void {
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values ?? {})) this.#setOne(type, id, value ?? null, step);
    }
  }

  #setOne(type: string, id: string, value: unknown, step: Step | null): void {
    if (type === plainType) return this.inbound.remember(id, value as Uint8Array);
    if (type === memoryType && this.#isWritten(value)) return;
    if (type !== 'pre-key') this.#cache.set(`${type} ${id}`, value);
    else if (value === null) this.#fresh?.delete(id);
    if (type === versionType && value !== null) {
      const forget = (): void => void this.#cache.delete(`${type} ${id}`);
      return this.#afterStored(() => this.writer.put(versionType, id, value), forget);
    }
    this.writer.put(type, id, value, step?.fresh);
    step?.touched.push([type, id]);
  }

  /**
   * Resolves when the frame of a message may leave. Usually it leaves before its chain is stored, because the start after a kill moves chains forward by
   * `unstoredSends` keys. It waits for the storage in three cases: `unstoredSends` sends are unstored, the step used a fresh key (the contact answers with it),
   * or changes up to `#storedFirst` are unstored.
   */
  async mayLeave({ touched }: Step): Promise<void> {
    const { writer } = this;
    this.#sends.push(writer.last);
    const kept = this.#sends.findIndex((number) => number > writer.stored);
    this.#sends = kept < 0 ? [] : kept === 0 ? this.#sends : this.#sends.slice(kept);
    if (this.#runs.begin()) this.#storedFirst = writer.last;
    if (writer.stored < this.#storedFirst || this.#sends.length >= unstoredSends || touched.some(([type, id]) => writer.isFresh(type, id)))
      await writer.flush();
  }

  holdVersions(stored: () => Promise<boolean>): void {
    this.#versionStored = stored;
  }

  get clean(): boolean {
    return this.writer.idle && this.inbound.idle && this.#holding === 0;
  }

  /** Runs `work` after the pending entries are stored, or `lost` if they can never be stored. Without a connection, no entries are pending. */
  #afterStored(work: () => void, lost: () => void = () => undefined): void {
    const stored = this.#versionStored;
    if (stored === null) return work();
    this.#holding += 1;
    const before = this.#held;
    const run = async (): Promise<void> => {
      // The library reports the changes of a version in the turn of the event loop in which it sets the version. They are pending from the next turn on.
      await new Promise(setImmediate);
      const isStored = await stored();
      await before;
      if (isStored) work();
      else lost();
      this.#holding -= 1;
    };
    this.#held = run();
  }

  /** Waits until all changes are stored, marks the run as ended, and stores this mark. */
  async settle(): Promise<void> {
    await this.#held;
    await this.inbound.settled();
    await this.writer.flush();
    this.#runs.end();
    await this.writer.flush();
  }

  /** Reads keys from the vault with one query. The value of a missing key is null. */
  async fetch(type: KeyType, ids: readonly string[], when?: 'now'): Promise<ReadonlyMap<string, unknown>> {
    const read = () => this.#vault.keys(this.#instance, type, ids);
    const found = await (when === 'now' ? read() : this.#storageRetry.wait('keys', read));
    const values = new Map<string, unknown>();
    for (const id of ids) {
      // A value that was set during the query replaces the value from the query.
      const newer = this.peek(type, id);
      values.set(id, newer === undefined ? this.#read(type, id, found.get(id)) : newer);
    }
    return values;
  }

  groupMaps(wanted: WantedMaps): Promise<ReadonlyMap<string, DeviceMap>> {
    const source = {
      vault: this.#vault,
      instance: this.#instance,
      peek: (group: string) => this.peek(memoryType, group) as DeviceMap | null | undefined,
      flush: () => this.writer.flush(),
    };
    return this.#storageRetry.wait('keys', () => readMaps(wanted, source));
  }

  storedIds(type: KeyType, prefix: string): Promise<readonly string[]> {
    return this.#storageRetry.wait('keys', () => this.#vault.idsWithPrefix(this.#instance, type, prefix));
  }

  /** Decodes and caches a stored value; null if there is none. */
  #read(type: KeyType, id: string, text: string | undefined): unknown {
    const { value, skipped } = text === undefined ? { value: null, skipped: false } : this.#runs.unstamp(type, decodeKey(type, text));
    if (skipped) {
      this.writer.put(type, id, value);
      this.#storedFirst = this.writer.last;
    }
    if (type !== 'pre-key') this.#cache.set(`${type} ${id}`, value, text?.length ?? 0);
    return value;
  }

  /** Returns true if the map is unchanged since the last call. The library only adds to a map, so the number of devices shows a change. */
  #isWritten(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false;
    const [before, now] = [this.#devices.get(value), Object.keys(value).length];
    this.#devices.set(value, now);
    return before === now;
  }

  /** Loads the keys of `warmTypes`. */
  async warm(): Promise<void> {
    const plaintexts = new Map<string, Uint8Array>();
    const finished: Page[] = [];
    for (const { type, id, value: text } of await this.#vault.allKeys(this.#instance, warmTypes)) {
      const value = decodeKey(type, text);
      if (type === plainType) plaintexts.set(id, value as Uint8Array);
      else if (type === finishedType) finished.push(value as Page);
      else if (type === runType) this.#runs = this.#makeRuns(value as RunNote);
      else if (type === patchType) this.patches.load(id);
      else this.#cache.set(`${type} ${id}`, value, text.length);
    }
    // All keys of these types are read, so a key that is not in the cache does not exist.
    for (const key of [...tokenPageKeys, ...versionKeys]) if (this.#cache.get(key) === undefined) this.#cache.set(key, null);
    await this.inbound.load({ plaintexts, finished });
  }

  #makeRuns(last: RunNote | null): Runs {
    return new Runs(last, (note) => this.writer.put(runType, runId, note));
  }

  giveUp(): void {
    this.#storageRetry.giveUp();
  }

  release(): void {
    this.#fresh = null;
  }
}

/** Returns true if the credentials belong to a pairing that was not completed. A login with them is refused with 401. */
export const isAbandoned = ({ me, account }: AuthenticationCreds): boolean => me !== undefined && account === undefined;

/** Reads the stored credentials. If there are no credentials, or only abandoned credentials, makes new credentials. */
export const openAuthState = async (options: AuthOptions): Promise<AuthState> => {
  const { vault, instance, epoch } = options;
  const stored = await storedCredentials(vault, instance);
  const abandoned = stored !== null && isAbandoned(stored);
  if (abandoned) await vault.discard(instance, epoch, 'delete', 'pairing was abandoned');
  if (stored === null || abandoned) await vault.cleared(instance);
  const { creds, fresh } = stored === null || abandoned ? await makeCredentials(options) : { creds: stored, fresh: null };
  const keys = new SessionKeys(options, creds, fresh);
  if (fresh === null) await keys.warm();
  return {
    state: {
      creds,
      keys: withTokenPages({
        // The cast is safe. Baileys derives the type of the result from the name of the key type.
        get: async <T extends KeyType>(type: T, ids: string[]) => (await keys.get(type, ids)) as { [id: string]: SignalDataTypeMap[T] },
        async set(data) {
          keys.set(data);
          // New one-time keys are stored at once. The library uploads them next, and from then on a contact may use them, even if this process ends.
          if (Object.values(data['pre-key'] ?? {}).some((pair) => pair !== null)) await keys.writer.flush();
        },
      }),
    },
    inbound: keys.inbound,
    ratchets: {
      plaintext: (hash) => keys.inbound.plaintext(hash),
      get: (type, ids) => keys.get(type as KeyType, ids),
      set: (data, step) => keys.set(data, step),
      mayLeave: (step) => keys.mayLeave(step),
    },
    saveCredentials: () => keys.writer.putCredentials(),
    storeCredentials() {
      keys.writer.putCredentials();
      return keys.writer.flush();
    },
    peek: <T extends KeyType>(type: T, id: string) => keys.peek(type, id) as SignalDataTypeMap[T] | null | undefined,
    async load(type, ids, when) {
      const unknown = ids.filter((id) => keys.peek(type, id) === undefined);
      if (unknown.length > 0) await keys.fetch(type, unknown, when);
    },
    groupMaps: (wanted) => keys.groupMaps(wanted),
    storedIds: (type, prefix) => keys.storedIds(type, prefix),
    tokenIssued(jid, at) {
      const known = keys.peek('tctoken', jid) as SignalDataTypeMap['tctoken'] | null | undefined;
      const seconds = Math.floor(at / 1000);
      // A token that is not in memory is skipped. This write would replace its stored value by an empty token.
      if (known === undefined || weekOf(known?.senderTimestamp ?? 0) === weekOf(seconds)) return;
      keys.set({ tctoken: { [jid]: { token: Buffer.alloc(0), ...known, senderTimestamp: seconds } } });
    },
    durable: () => keys.writer.flush(),
    settled: () => keys.settle(),
    patches: keys.patches,
    holdVersions: (stored) => keys.holdVersions(stored),
    get clean() {
      return keys.clean;
    },
    releaseFreshKeys: () => keys.release(),
    giveUpReads: () => keys.giveUp(),
    retire: () => keys.writer.retire(),
  };
};

/** Reads the stored credentials. Throws `CorruptCredentials` if they are damaged. */
export const storedCredentials = async (vault: Vault, instance: string): Promise<AuthenticationCreds | null> => {
  const text = await vault.credentials(instance);
  if (text === null) return null;
  let creds: AuthenticationCreds | null;
  try {
    creds = decodeCredentials(text);
  } catch {
    throw new CorruptCredentials('the credentials are not JSON');
  }
  if (creds === null) throw new CorruptCredentials('the credentials are incomplete');
  return creds;
};
