/** Sign-ins to the dashboard that count on every node: a row of the database each, looked at again with what the node remembers otherwise. */
import type { SignInMemory, SignIns } from '../face/server.ts';
import type { SignInStore } from '../ports.ts';

/** More than one person opens. */
const most = 1_000;

export class SharedSignIns implements SignIns {
  readonly #store: SignInStore;
  /** Names the admin token of now; set before anybody signs in. */
  admin: () => string = () => '';
  #memory: SignInMemory | null = null;

  constructor(store: SignInStore) {
    this.#store = store;
  }

  add(key: string, ms: number): Promise<void> {
    return this.#store.add({ key, admin: this.admin() }, ms, most);
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
