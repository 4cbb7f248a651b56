/** Credentials and keys in memory, as text, behind the interface of the storage, with faults on demand. */
import { EpochLost, StorageUnavailable } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault-port.ts';

export interface FakeVault extends Vault {
  /** The stored credentials and keys. Each key is named by the text `type id`. */
  readonly stored: { credentials: string | null; readonly keys: Map<string, string> };
  /** Finished writes: the number of keys of each, and if it contained credentials. */
  readonly writes: { readonly keys: number; readonly credentials: boolean }[];
  /** Stanzas in the log by number, in order. */
  readonly inbound: Map<number, { readonly stanza: Uint8Array; tries: number }>;
  /** Queries for keys, in order. */
  readonly queries: { readonly type: string; readonly ids: readonly string[] }[];
  readonly discarded: { readonly how: 'delete' | 'setAside'; readonly reason: string }[];
  /** If true, all operations reject with `StorageUnavailable`. If `write`, only writes of keys and credentials do. */
  away: boolean | 'write';
  /** The epoch that is allowed to write. */
  epoch: number;
  /** A promise that writes wait for. */
  slow: Promise<void>;
}

/** Returns the operations on the log of received stanzas. */
const logOf = (self: () => FakeVault, check: () => void): Pick<Vault, 'log' | 'tried' | 'logged'> => ({
  async log(_instance, epoch, stanzas) {
    await self().slow;
    check();
    if (epoch !== self().epoch) throw new EpochLost(`epoch ${epoch}`);
    for (const { seq, stanza } of stanzas) if (!self().inbound.has(seq)) self().inbound.set(seq, { stanza, tries: 0 });
  },
  async tried(_instance, epoch, seqs) {
    check();
    if (epoch !== self().epoch) throw new EpochLost(`epoch ${epoch}`);
    for (const seq of seqs) {
      const row = self().inbound.get(seq);
      if (row) row.tries += 1;
    }
  },
  async logged(_instance, tries) {
    check();
    const all = [...self().inbound].map(([seq, row]) => ({ seq, ...row }));
    const stanzas = all.filter((row) => row.tries < tries).toSorted((a, b) => a.seq - b.seq);
    return { stanzas, aside: all.length - stanzas.length };
  },
});

/** Returns the read operations on keys. */
const keysOf = (self: () => FakeVault, check: () => void): Pick<Vault, 'keys' | 'idsWithPrefix' | 'allKeys'> => ({
  async keys(_instance, type, ids) {
    check();
    self().queries.push({ type, ids });
    return new Map(
      ids.flatMap((id) => (self().stored.keys.has(`${type} ${id}`) ? [[id, self().stored.keys.get(`${type} ${id}`) ?? '']] : [])),
    );
  },
  async idsWithPrefix(_instance, type, prefix) {
    check();
    const start = `${type} ${prefix}`;
    return [...self().stored.keys.keys()].filter((key) => key.startsWith(start)).map((key) => key.slice(type.length + 1));
  },
  async allKeys(_instance, types) {
    check();
    return [...self().stored.keys].flatMap(([key, value]) => {
      const [type = '', id = ''] = key.split(/ (.*)/s);
      return types.includes(type) ? [{ type, id, value }] : [];
    });
  },
});

/** Returns a vault for one instance, because each test creates its own vault. */
export const createFakeVault = (): FakeVault => {
  const stored: FakeVault['stored'] = { credentials: null, keys: new Map() };
  const check = (what?: 'write'): void => {
    if (vault.away === true || (vault.away !== false && vault.away === what)) throw new StorageUnavailable('away');
  };
  const vault: FakeVault = {
    stored,
    writes: [],
    inbound: new Map(),
    queries: [],
    discarded: [],
    away: false,
    epoch: 1,
    slow: Promise.resolve(),
    async credentials() {
      check();
      return stored.credentials;
    },
    ...keysOf(() => vault, check),
    async write(_instance, epoch, change) {
      await vault.slow;
      check('write');
      if (epoch !== vault.epoch) throw new EpochLost(`epoch ${epoch}`);
      for (const { type, id, value } of change.keys) {
        if (value === null) stored.keys.delete(`${type} ${id}`);
        else stored.keys.set(`${type} ${id}`, value);
      }
      if (change.credentials !== undefined) stored.credentials = change.credentials;
      for (const seq of change.handled ?? []) vault.inbound.delete(seq);
      vault.writes.push({ keys: change.keys.length, credentials: change.credentials !== undefined });
    },
    ...logOf(() => vault, check),
    async discard(_instance, epoch, how, reason) {
      check();
      if (epoch !== vault.epoch) throw new EpochLost(`epoch ${epoch}`);
      vault.discarded.push({ how, reason });
      stored.credentials = null;
      stored.keys.clear();
      vault.inbound.clear();
    },
    async cleared() {
      check();
    },
  };
  return vault;
};
