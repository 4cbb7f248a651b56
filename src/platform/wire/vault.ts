/** The store of a session's credentials and Signal keys, as the platform adapter needs it. */
import { type Log, StorageFailure } from '#actors/ports.ts';

/** Key types of Baileys (`pre-key`, `session`, `sender-key`, …) are passed through as they are. */
export interface KeyChange {
  readonly type: string;
  readonly id: string;
  /** JSON text (Baileys' BufferJSON); null removes the key. */
  readonly value: string | null;
}

/** A received stanza as it is logged. `seq` is its place in the order of arrival, unique within the instance. */
interface LoggedStanza {
  readonly seq: number;
  readonly stanza: Uint8Array;
}

/** The changes of one write: all of them are stored, or none. */
export interface VaultChange {
  readonly credentials?: string;
  readonly keys: readonly KeyChange[];
  /** Stanzas whose messages are stored: they leave the log. */
  readonly handled?: readonly number[];
  /** True if no caller waits for the write. It may then share a statement with writes of other sessions. */
  readonly isPatient?: boolean;
}

export interface Vault {
  /** JSON text of the credentials, or null when the instance has none. Throws `CorruptCredentials` when they cannot be read or decrypted. */
  credentials(instance: string): Promise<string | null>;
  /** Values of the keys that exist. */
  keys(instance: string, type: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Ids of the keys of a type that begin with `prefix`, in no order. */
  idsWithPrefix(instance: string, type: string, prefix: string): Promise<readonly string[]>;
  /** Several types at once, to fill a cache with one query; types with thousands of keys (`pre-key`) are left out by the caller. */
  allKeys(
    instance: string,
    types: readonly string[],
  ): Promise<readonly { readonly type: string; readonly id: string; readonly value: string }[]>;
  /**
   * Writes credentials and keys in one transaction. Rejects with `EpochLost` when `epoch` is not the instance's any more,
   * with `StorageFailure` when the same write should be tried again.
   */
  write(instance: string, epoch: number, change: VaultChange): Promise<void>;
  /** Keeps received stanzas until `write` names them as handled. Fails like `write`. */
  log(instance: string, epoch: number, stanzas: readonly LoggedStanza[]): Promise<void>;
  /** Counts one more try of handling these stanzas. Fails like `write`. */
  tried(instance: string, epoch: number, seqs: readonly number[]): Promise<void>;
  /**
   * Returns the logged stanzas in order, without those that were tried `tries` times or more, and without those whose rows are damaged. Both kinds are
   * only counted, and removed after a month.
   */
  logged(
    instance: string,
    tries: number,
  ): Promise<{ readonly stanzas: readonly (LoggedStanza & { readonly tries: number })[]; readonly aside: number }>;
  /**
   * Ends the session: `credentials` answers null afterwards. `setAside`: the credentials are kept apart, with time and reason. Keys and log go too, and
   * those that are many may outlast the call: see `cleared`.
   */
  discard(instance: string, epoch: number, how: 'delete' | 'setAside', reason: string): Promise<void>;
  /** Resolves when no key and no stanza of a former session is left. To be waited for before the first key of a new session is read or written. */
  cleared(instance: string): Promise<void>;
}

/** A credential row that cannot be decrypted or parsed; `message` never holds any of it. */
export class CorruptCredentials extends Error {
  override readonly name = 'CorruptCredentials';
}

// Repeats work until the storage takes it: a session must neither lose nor refuse what arrives while the storage is away or busy.

const firstMs = 50;
const longestMs = 2_000;

export interface StorageRetry {
  /** Tries until it works, with a growing pause. Rejects with any error but `StorageFailure`; with that only after `giveUp`. */
  wait<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** Work that waits now rejects; work that begins later waits again. */
  giveUp(): void;
}

export const createStorageRetry = (log: Log, instance: string): StorageRetry => {
  let round = 0;
  const pausing = new Set<() => void>();

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        pausing.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      pausing.add(wake);
    });

  return {
    async wait(what, work) {
      const begun = round;
      for (let ms = firstMs; ; ms = Math.min(ms * 2, longestMs)) {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof StorageFailure) || begun !== round) throw error;
          log.warn({ instance, what, retryInMs: ms }, 'platform.storage-away');
        }
        await pause(ms);
      }
    },
    giveUp() {
      round += 1;
      for (const wake of pausing) wake();
    },
  };
};
