/**
 * Write-behind of one session's keys: changes are put without waiting and stored in order, one transaction at a time, which takes everything
 * that waits.
 *
 * A change is durable when a `flush` that began after it has resolved. Readers look at what waits first, with `peek`.
 */
import type { Log } from '#actors/ports.ts';
import { createStorageRetry, type StorageRetry, type Vault } from '../wire/vault.ts';

interface KeyWriterOptions {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly log: Log;
  /** Called when a value is written, which is once for several changes of a key. */
  encode(type: string, id: string, value: unknown): string;
  credentials(): string;
  /** Called once when writing has ended for good: another node owns the instance, or a retry would not help. */
  onLost(error: unknown): void;
}

export interface KeyWriter {
  /** `null` removes the key. `fresh`: the key must be stored before it is used (see `isFresh`). */
  put(type: string, id: string, value: unknown, fresh?: boolean): void;
  putCredentials(): void;
  /** Numbers of messages that leave the inbound log, in the transaction of the changes put before or in a later one. */
  finish(stanzas: readonly number[]): void;
  /** Returns the waiting value of this key (null if the key is removed), or undefined if no change waits. */
  peek(type: string, id: string): unknown;
  /** A change of this key that was put as `fresh` is not stored yet. */
  isFresh(type: string, id: string): boolean;
  /** Number of the last change, and of the last stored one. */
  readonly last: number;
  readonly stored: number;
  /** True if no write waits or runs. */
  readonly idle: boolean;
  /** Resolves when all earlier changes are stored. Rejects if they will never be stored (`onLost`). */
  flush(): Promise<void>;
  /** Ends the writer with its session. Later changes are dropped. */
  retire(): void;
}

/**
 * Milliseconds that a write waits for more changes (micro-batch). A flush ends the wait. A kill within the wait repeats messages of the inbound log, and
 * skips steps of sending chains, whose number `unstoredSends` bounds.
 */
const gatherMs = 200;
/** A write waits on until the next multiple of this time, so that writes of several sessions share a statement. In milliseconds. */
const sharedMs = 100;
const waitMs = (now: number): number => gatherMs + sharedMs - ((now + gatherMs) % sharedMs);

interface Change {
  readonly type: string;
  readonly id: string;
  readonly value: unknown;
  readonly fresh: boolean;
}

/** The changes of one transaction. */
class Batch {
  readonly changes = new Map<string, Change>();
  readonly handled: number[] = [];
  credentials = false;
}

/** Promises that wait for a change to be stored, by the number of the change. */
const createWaiters = () => {
  let waiters: { readonly seq: number; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  return {
    get any(): boolean {
      return waiters.length > 0;
    },
    wait: (seq: number): Promise<void> => new Promise((resolve, reject) => waiters.push({ seq, resolve, reject })),
    stored(seq: number): void {
      const done = waiters.filter((waiter) => waiter.seq <= seq);
      if (done.length === 0) return;
      waiters = waiters.filter((waiter) => waiter.seq > seq);
      for (const { resolve } of done) resolve();
    },
    lost(error: unknown): void {
      const all = waiters;
      waiters = [];
      for (const { reject } of all) reject(error);
    },
  };
};

/** A pause that can be cut short. */
const createGather = () => {
  let cut: (() => void) | null = null;
  return {
    cut: () => cut?.(),
    wait: (): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => cut?.(), waitMs(performance.now()));
        cut = () => {
          clearTimeout(timer);
          cut = null;
          resolve();
        };
      }),
  };
};

class VaultWriter implements KeyWriter {
  readonly #options: KeyWriterOptions;
  /** Retries without a limit, also after the end of the session, because the changes of its keys must be stored. */
  readonly #storageRetry: StorageRetry;
  readonly #waiters = createWaiters();
  readonly #gather = createGather();
  #waiting = new Batch();
  #writing = new Batch();
  #last = 0;
  #stored = 0;
  #running = false;
  #retired = false;
  #lost: { readonly error: unknown } | null = null;

  constructor(options: KeyWriterOptions) {
    this.#options = options;
    this.#storageRetry = createStorageRetry(options.log, options.instance);
  }

  put(type: string, id: string, value: unknown, fresh = false): void {
    if (this.#retired) return;
    const key = `${type} ${id}`;
    const { changes } = this.#waiting;
    changes.set(key, { type, id, value, fresh: fresh || (changes.get(key)?.fresh ?? false) });
    this.#start();
  }

  putCredentials(): void {
    if (this.#retired) return;
    this.#waiting.credentials = true;
    this.#start();
  }

  finish(stanzas: readonly number[]): void {
    if (this.#retired || stanzas.length === 0) return;
    this.#waiting.handled.push(...stanzas);
    this.#start();
  }

  peek(type: string, id: string): unknown {
    const key = `${type} ${id}`;
    return (this.#waiting.changes.get(key) ?? this.#writing.changes.get(key))?.value;
  }

  isFresh(type: string, id: string): boolean {
    const key = `${type} ${id}`;
    return this.#waiting.changes.get(key)?.fresh === true || this.#writing.changes.get(key)?.fresh === true;
  }

  get last(): number {
    return this.#last;
  }

  get stored(): number {
    return this.#stored;
  }

  get idle(): boolean {
    return this.#stored === this.#last;
  }

  async flush(): Promise<void> {
    if (this.#lost !== null) throw this.#lost.error;
    if (this.idle) return;
    const stored = this.#waiters.wait(this.#last);
    this.#gather.cut();
    await stored;
  }

  retire(): void {
    this.#retired = true;
  }

  #start(): void {
    this.#last += 1;
    if (this.#running || this.#lost !== null) return;
    this.#running = true;
    this.#run().catch((error: unknown) => this.#lose(error));
  }

  async #run(): Promise<void> {
    while (!this.idle) {
      if (!this.#waiters.any) await this.#gather.wait();
      const isPatient = !this.#waiters.any;
      const upTo = this.#take();
      await this.#write(this.#writing, isPatient);
      this.#writing = new Batch();
      this.#stored = upTo;
      this.#waiters.stored(upTo);
    }
    this.#running = false;
  }

  #take(): number {
    this.#writing = this.#waiting;
    this.#waiting = new Batch();
    return this.#last;
  }

  async #write({ changes, handled, credentials }: Batch, isPatient: boolean): Promise<void> {
    const { vault, instance, epoch, encode, credentials: encodeCredentials } = this.#options;
    const keys = [...changes.values()].map(({ type, id, value }) => ({ type, id, value: value === null ? null : encode(type, id, value) }));
    const change = {
      keys,
      ...(credentials ? { credentials: encodeCredentials() } : {}),
      ...(handled.length > 0 ? { handled } : {}),
      isPatient,
    };
    await this.#storageRetry.wait('keys', () => vault.write(instance, epoch, change));
  }

  #lose(error: unknown): void {
    const { log, instance, onLost } = this.#options;
    this.#running = false;
    this.#lost = { error };
    log.error({ instance, error: error instanceof Error ? error.name : typeof error }, 'platform.keys-lost');
    this.#waiters.lost(error);
    onLost(error);
  }
}

export const createKeyWriter = (options: KeyWriterOptions): KeyWriter => new VaultWriter(options);
