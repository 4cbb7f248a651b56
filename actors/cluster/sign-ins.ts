/**
 * Sign-ins to the dashboard as rows of the database. They outlive the process, and count on every node. A node reads them again together with the
 * rest of what it remembers.
 */
import type { SignInMemory, SignIns } from '../face/server.ts';
import { StorageFailure, type SignInStore } from '../ports.ts';

/** More than one person opens. */
const most = 1_000;

export class SharedSignIns implements SignIns {
  readonly #store: SignInStore;
  readonly #alone: boolean;
  /** Names the admin token of now; set before anybody signs in. */
  admin: () => string = () => '';
  #memory: SignInMemory | null = null;

  /** `alone`: no other node has to know a sign-in, so that one begins without the storage too. The next start asks for the token again. */
  constructor(store: SignInStore, alone = false) {
    this.#store = store;
    this.#alone = alone;
  }

  async add(key: string, ms: number): Promise<void> {
    try {
      await this.#store.add({ key, admin: this.admin() }, ms, most);
    } catch (error) {
      if (!this.#alone || !(error instanceof StorageFailure)) throw error;
    }
  }

  left(key: string): Promise<number> {
    return this.#store.left({ key, admin: this.admin() });
  }

  end(key: string): Promise<void> {
    return this.#store.end(key);
  }

  remembers(memory: SignInMemory): void {
    this.#memory = memory;
  }

  /** What another node ended, or a new admin token, ends here. One query, and none while nobody is signed in here. */
  async look(): Promise<void> {
    const keys = [...(this.#memory?.keys() ?? [])];
    if (keys.length === 0) return;
    const valid = new Set(await this.#store.valid(keys, this.admin()));
    for (const key of keys) if (!valid.has(key)) this.#memory?.end(key);
  }
}

/** Sign-ins of a node, or of a gateway that has the store to itself; null without both. `admin` names the admin token of now. */
export const signInsOf = (
  cluster: { readonly signIns: SharedSignIns } | null,
  store: SignInStore | undefined,
  admin: () => string,
): SharedSignIns | null => {
  const signIns = cluster?.signIns ?? (store ? new SharedSignIns(store, true) : null);
  if (signIns) signIns.admin = admin;
  return signIns;
};
