/**
 * Sign-ins to the dashboard as rows of the database. Sign-ins survive a restart, and are valid on every node. A node reads its sign-ins again with
 * the rest of its cache.
 */
import type { SignInMemory, SignIns } from '../views/server.ts';
import { StorageFailure, type SignInStore } from '../ports.ts';

/** Limit of sign-ins, which is more than one operator opens. */
const most = 1_000;

export class SharedSignIns implements SignIns {
  readonly #store: SignInStore;
  readonly #alone: boolean;
  /** Returns the name of the current admin token. Set before the first sign-in. */
  admin: () => string = () => '';
  #memory: SignInMemory | null = null;

  /** Takes `alone` for a gateway without other nodes. A sign-in then works without storage. The next start asks for the token again. */
  constructor(store: SignInStore, alone = false) {
    this.#store = store;
    this.#alone = alone;
  }

  async add(key: string, ms: number, { user, address }: Parameters<SignIns['add']>[2]): Promise<boolean> {
    try {
      return await this.#store.add({ key, admin: user?.version ?? this.admin(), userId: user?.id ?? null, address }, ms, most);
    } catch (error) {
      if (!this.#alone || user !== null || !(error instanceof StorageFailure)) throw error;
      return true;
    }
  }

  find(key: string): ReturnType<SignIns['find']> {
    return this.#store.find(key, this.admin());
  }

  list(): ReturnType<SignIns['list']> {
    return this.#store.list(this.admin());
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
    const valid = new Set(await this.#store.valid(keys, this.admin()));
    for (const key of keys) if (!valid.has(key)) this.#memory?.end(key);
  }
}

/** Returns the sign-ins of a node, or of a single gateway with a store; null without both. `admin` returns the name of the current admin token. */
export const signInsOf = (
  cluster: { readonly signIns: SharedSignIns } | null,
  store: SignInStore | undefined,
  admin: () => string,
): SharedSignIns | null => {
  const signIns = cluster?.signIns ?? (store ? new SharedSignIns(store, true) : null);
  if (signIns) signIns.admin = admin;
  return signIns;
};
