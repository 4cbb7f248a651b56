/** One-time codes for passkeys in memory. The codes never expire. */
import type { PasskeyCodeStore } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';

export class FakePasskeyCodes implements PasskeyCodeStore {
  readonly #db: FakeDatabase;
  readonly #rows = new Map<string, { readonly hash: string; readonly used: boolean }>();

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  put = (instance: string, hash: string) => this.#db.run('passkeyCodes.put', () => void this.#rows.set(instance, { hash, used: false }));
  find = (hash: string) =>
    this.#db.run('passkeyCodes.find', () => {
      const [found] = [...this.#rows].filter(([, row]) => row.hash === hash);
      return found === undefined ? null : { instanceId: found[0], used: found[1].used };
    });
  use = (hash: string, ticket: string) =>
    this.#db.run('passkeyCodes.use', () => {
      const [found] = [...this.#rows].filter(([, row]) => row.hash === hash && !row.used);
      if (found) this.#rows.set(found[0], { hash: ticket, used: true });
      return found !== undefined;
    });
  end = (instance: string) => this.#db.run('passkeyCodes.end', () => void this.#rows.delete(instance));
}
