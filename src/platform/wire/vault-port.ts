/** The port of the store for the credentials and Signal keys of sessions, and the retry of storage work. */
import { type Log, StorageFailure } from '#actors/ports.ts';

/** A change of a key. Key types of Baileys (`pre-key`, `session`, `sender-key`, …) are used unchanged. */
export interface KeyChange {
  readonly type: string;
  readonly id: string;
  /** JSON text (Baileys' BufferJSON); null removes the key. */
  readonly value: string | null;
}

/** A logged stanza. `seq` increases in the order of arrival, and is unique within the instance. */
interface LoggedStanza {
  readonly seq: number;
  readonly stanza: Uint8Array;
}

/** The changes of one write. Either all of them are stored, or none. */
export interface VaultChange {
  readonly credentials?: string;
  readonly keys: readonly KeyChange[];
  /** The `seq` of each stanza whose message is stored. These stanzas are deleted from the log. */
  readonly handled?: readonly number[];
  /** True if no caller waits for the write. It may then share a statement with writes of other sessions. */
  readonly isPatient?: boolean;
}

export interface Vault {
  /** Reads the credentials as JSON text; null if the instance has none. Throws `CorruptCredentials` if they cannot be read or decrypted. */
  credentials(instance: string): Promise<string | null>;
  /** Reads the values of these keys. The result lacks the ids of keys that do not exist. */
  keys(instance: string, type: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Reads the ids of the keys of a type that begin with `prefix`, in any order. */
  idsWithPrefix(instance: string, type: string, prefix: string): Promise<readonly string[]>;
  /** Reads all keys of several types with one query, to fill a cache. The caller must leave out types with thousands of keys (`pre-key`). */
  allKeys(
    instance: string,
    types: readonly string[],
  ): Promise<readonly { readonly type: string; readonly id: string; readonly value: string }[]>;
  /**
   * Writes credentials and keys in one transaction. Rejects with `EpochLost` if the instance has another epoch now, and with `StorageFailure` if the
   * caller should retry the same write.
   */
  write(instance: string, epoch: number, change: VaultChange): Promise<void>;
  /** Logs received stanzas. They stay until `write` names them as handled. Rejects like `write`. */
  log(instance: string, epoch: number, stanzas: readonly LoggedStanza[]): Promise<void>;
  /** Counts one more try for these stanzas. Rejects like `write`. */
  tried(instance: string, epoch: number, seqs: readonly number[]): Promise<void>;
  /**
   * Reads the logged stanzas in order. Leaves out stanzas with `tries` or more tries, and stanzas in damaged rows. `aside` is the number of stanzas that are
   * left out. These stanzas are deleted after 30 days.
   */
  logged(
    instance: string,
    tries: number,
  ): Promise<{ readonly stanzas: readonly (LoggedStanza & { readonly tries: number })[]; readonly aside: number }>;
  /**
   * Ends the session. Afterwards `credentials` returns null. `setAside`: the credentials are moved to another table, with the time and the reason. Keys and the
   * log are deleted in both cases. If there are many of them, the deletion continues after the call (see `cleared`).
   */
  discard(instance: string, epoch: number, how: 'delete' | 'setAside', reason: string): Promise<void>;
  /** Resolves when no key and no stanza of a former session is left. Wait for this before the first read or write of a new session's keys. */
  cleared(instance: string): Promise<void>;
}

/** The error for a row of credentials that cannot be decrypted or parsed. `message` contains no part of the row. */
export class CorruptCredentials extends Error {
  override readonly name = 'CorruptCredentials';
}

// The retry of storage work. A session must neither lose nor refuse data that arrives while the storage is unavailable or busy.

const firstMs = 50;
const longestMs = 2_000;

export class StorageRetry {
  readonly #log: Log;
  readonly #instance: string;
  readonly #pausing = new Set<() => void>();
  #round = 0;

  constructor(log: Log, instance: string) {
    this.#log = log;
    this.#instance = instance;
  }

  /** Runs work, and retries it with back-off after a `StorageFailure`. Rejects with other errors, and with `StorageFailure` only after `giveUp`. */
  async wait<T>(what: string, work: () => Promise<T>): Promise<T> {
    const begun = this.#round;
    for (let ms = firstMs; ; ms = Math.min(ms * 2, longestMs)) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageFailure) || begun !== this.#round) throw error;
        this.#log.warn({ instance: this.#instance, what, retryInMs: ms }, 'platform.storage-away');
      }
      await this.#pause(ms);
    }
  }

  /** Ends all waits. Waiting work is tried once more, and rejects if this try fails. Later calls of `wait` retry again. */
  giveUp(): void {
    this.#round += 1;
    for (const wake of this.#pausing) wake();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#pausing.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#pausing.add(wake);
    });
  }
}
