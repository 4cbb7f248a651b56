/**
 * Sign-ins to the dashboard as rows of the database. Sign-ins survive a restart, and are valid on every node. A node reads its sign-ins again with
 * the rest of its cache.
 */
import type { SignInMemory, SignIns } from '../views/server.ts';
import { StorageFailure, type SignInStore } from '../ports.ts';

/** The largest number of sign-ins, which is more than one operator opens. */
const most = 1_000;

export class SharedSignIns implements SignIns {
  readonly #store: SignInStore;
  readonly #alone: boolean;
  readonly #admin: () => string;
  /** The sign-ins that the HTTP server caches; null before its start. */
  #memory: SignInMemory | null = null;

  /**
   * `admin` returns the fingerprint of the current admin token. `alone` is true for a gateway without other nodes. Such a gateway accepts a sign-in with the
   * admin token while storage is unavailable, and asks for the token again after the next start.
   */
  constructor(store: SignInStore, admin: () => string, alone = false) {
    this.#store = store;
    this.#admin = admin;
    this.#alone = alone;
  }

  async add(key: string, ms: number, { user, address }: Parameters<SignIns['add']>[2]): Promise<boolean> {
    try {
      return await this.#store.add({ key, admin: user?.version ?? this.#admin(), userId: user?.id ?? null, address }, ms, most);
    } catch (error) {
      if (!this.#alone || user !== null || !(error instanceof StorageFailure)) throw error;
      return true;
    }
  }

  find(key: string): ReturnType<SignIns['find']> {
    return this.#store.find(key, this.#admin());
  }

  list(): ReturnType<SignIns['list']> {
    return this.#store.list(this.#admin());
  }

  end(key: string): Promise<boolean> {
    return this.#store.end(key);
  }

  remembers(memory: SignInMemory): void {
    this.#memory = memory;
  }

  /** Ends sign-ins that another node ended, or that a new admin token made void. Makes one query, and none while no sign-in is open on this node. */
  async look(): Promise<void> {
    const keys = [...(this.#memory?.keys() ?? [])];
    if (keys.length === 0) return;
    const valid = new Set(await this.#store.valid(keys, this.#admin()));
    for (const key of keys) if (!valid.has(key)) this.#memory?.end(key);
  }
}
