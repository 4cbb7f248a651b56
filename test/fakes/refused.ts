/** Refused entries in memory. */
import type { Claim, Entry } from '#actors/model.ts';
import type { RefusedEntry, RefusedStore } from '#actors/ports.ts';
import type { Gateway } from '#actors/gateway.ts';
import { done, refuse } from '#actors/model.ts';
import type { FakeDatabase } from './storage.ts';

export class FakeRefused implements RefusedStore {
  readonly #db: FakeDatabase;
  readonly rows: { row: RefusedEntry; readonly entry: Entry }[] = [];

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  keep = ({ instanceId }: Claim, entry: Entry, error: string) =>
    this.#db.run('refused.keep', () => {
      this.rows.push({ row: { instanceId, id: `e${this.rows.length + 1}`, kind: entry.kind, error, tries: 1, at: 0 }, entry });
      return true;
    });
  list = () => this.#db.run('refused.list', () => ({ entries: this.rows.map(({ row }) => row), more: false }));
  read = (instance: string, id: string) =>
    this.#db.run('refused.read', () => this.rows.find(({ row }) => row.instanceId === instance && row.id === id)?.entry ?? null);
  tried = (_: Claim, id: string, error: string) =>
    this.#db.run('refused.tried', () => {
      for (const one of this.rows) if (one.row.id === id) one.row = { ...one.row, error, tries: one.row.tries + 1 };
    });
  remove = (_: Claim, id: string) =>
    this.#db.run('refused.remove', () => {
      const at = this.rows.findIndex(({ row }) => row.id === id);
      if (at >= 0) this.rows.splice(at, 1);
      return at >= 0;
    });
}

const found = (entry: string) => (entry === 'e1' ? done(null) : refuse('notFound', 'there is no such entry'));

export const refusedCalls: Pick<Gateway, 'refusedEntries' | 'retryRefused' | 'discardRefused'> = {
  refusedEntries: async () => ({
    entries: [{ instanceId: 'r1', id: 'e1', kind: 'message', error: '22003', tries: 1, at: 1 }],
    more: false,
  }),
  retryRefused: async (_, entry) => found(entry),
  discardRefused: async (_, entry) => found(entry),
};
