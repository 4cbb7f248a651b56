/**
 * The write-behind of one session's keys. Changes are put without waiting, and are stored in order. One transaction at a time stores all waiting
 * changes.
 *
 * A change is durable when a `flush` that began after it has resolved. Readers must first search the waiting changes with `peek`.
 */
import type { Log } from '#actors/ports.ts';
import { StorageRetry, type Vault } from '../wire/vault-port.ts';

interface KeyWriterOptions {
  readonly vault: Vault;
  readonly instance: string;
  readonly epoch: number;
  readonly log: Log;
  /** Encodes a value when it is written. If several changes of a key wait, only the last value is encoded. */
  encode(type: string, id: string, value: unknown): string;
  credentials(): string;
  /** Called once if the keys can never be stored: another node owns the instance, or a retry would not help. */
  onLost(error: unknown): void;
}

export interface KeyWriter {
  /** Puts a change. `null` removes the key. `fresh`: no message that uses the key may leave before the key is stored (see `isFresh`). */
  put(type: string, id: string, value: unknown, fresh?: boolean): void;
  putCredentials(): void;
  /** Removes messages from the inbound log. The removal is stored together with the changes that were put before, or after them. */
  finish(stanzas: readonly number[]): void;
  /** Returns the waiting value of this key (null if the key is removed), or undefined if no change waits. */
  peek(type: string, id: string): unknown;
  /** Returns true if a change of this key that was put as `fresh` is not stored yet. */
  isFresh(type: string, id: string): boolean;
  /** The numbers of the last change and of the last stored change. */
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
 * The time for which a write waits for more changes (micro-batch). A flush ends the wait. After a kill during the wait, messages of the inbound log are handled
 * again, and sending chains are moved forward (`unclean-runs.ts`). In milliseconds.
 */
const gatherMs = 200;
/** After the wait, a write waits for the next multiple of this time, so that writes of several sessions share a statement. In milliseconds. */
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

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The promises that wait until a change is stored, with the number of the change. */
class Waiters {
  #all: Waiter[] = [];

  get any(): boolean {
    return this.#all.length > 0;
  }

  wait(seq: number): Promise<void> {
    return new Promise((resolve, reject) => this.#all.push({ seq, resolve, reject }));
  }

  stored(seq: number): void {
    const done = this.#all.filter((waiter) => waiter.seq <= seq);
    if (done.length === 0) return;
    this.#all = this.#all.filter((waiter) => waiter.seq > seq);
    for (const { resolve } of done) resolve();
  }

  lost(error: unknown): void {
    const all = this.#all;
    this.#all = [];
    for (const { reject } of all) reject(error);
  }
}

/** A pause that can be ended early. */
class Gather {
  #end: (() => void) | null = null;

  cut(): void {
    this.#end?.();
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.cut(), waitMs(performance.now()));
      this.#end = () => {
        clearTimeout(timer);
        this.#end = null;
        resolve();
      };
    });
  }
}

class VaultWriter implements KeyWriter {
  readonly #options: KeyWriterOptions;
  /** The retry of writes. It has no limit, and continues after the end of the session, because the changes of keys must be stored. */
  readonly #storageRetry: StorageRetry;
  readonly #waiters = new Waiters();
  readonly #gather = new Gather();
  #waiting = new Batch();
  #writing = new Batch();
  #last = 0;
  #stored = 0;
  #running = false;
  #retired = false;
  #lost: { readonly error: unknown } | null = null;

  constructor(options: KeyWriterOptions) {
    this.#options = options;
    this.#storageRetry = new StorageRetry(options.log, options.instance);
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
