/**
 * Writes the keys of several sessions in one statement. Sessions batch their changes, and the batches of many sessions are due at the same time. A statement
 * costs hardly more for a dozen sessions than for one.
 *
 * No session waits for another. The statement leaves out a session whose row is locked or has another epoch, and this session then writes alone. If the
 * statement is refused or takes too long, every session writes alone.
 */
import { StorageFailure, StorageSlow } from '#actors/ports.ts';
import { ownedNow } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';

/** The rows of one write, sealed. */
export interface SealedChange {
  readonly removed: readonly { readonly type: string; readonly id: string }[];
  readonly put: readonly { readonly type: string; readonly id: string; readonly sealed: Buffer }[];
  /** Numbers of stanzas that are deleted from the inbound log. */
  readonly handled: readonly number[];
}

export interface KeyWrite extends SealedChange {
  readonly instance: string;
  readonly epoch: number;
}

export const gatheredStatements = {
  /**
   * $1 and $2: instances and epochs. $3 to $5: keys to remove. $6 to $9: keys to upsert. $10 and $11: handled stanzas. Returns the instances whose
   * changes are stored.
   */
  write: {
    name: 'vault-write-several',
    text: `with ${ownedNow('$1', '$2')},
      removed as (
        delete from signal_key k using owned, unnest($3::text[], $4::text[], $5::text[]) as gone (instance_id, type, id)
        where k.instance_id = any($3::text[]) and k.type = any($4::text[]) and k.id = any($5::text[])
          and owned.id = k.instance_id and k.instance_id = gone.instance_id and k.type = gone.type and k.id = gone.id),
      put as (
        insert into signal_key (instance_id, type, id, sealed)
        select owned.id, fresh.type, fresh.id, fresh.sealed
        from unnest($6::text[], $7::text[], $8::text[], $9::bytea[]) as fresh (instance_id, type, id, sealed)
        join owned on owned.id = fresh.instance_id
        on conflict (instance_id, type, id) do update set sealed = excluded.sealed),
      handled as (
        delete from inbound i using owned, unnest($10::text[], $11::bigint[]) as gone (instance_id, seq)
        where i.instance_id = any($10::text[]) and i.seq = any($11::bigint[])
          and owned.id = i.instance_id and i.instance_id = gone.instance_id and i.seq = gone.seq)
      select id from owned`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

const valuesOf = (writes: readonly KeyWrite[]): readonly unknown[] => {
  const removed = writes.flatMap((write) => write.removed.map((key) => ({ ...key, instance: write.instance })));
  const put = writes.flatMap((write) => write.put.map((key) => ({ ...key, instance: write.instance })));
  const handled = writes.flatMap((write) => write.handled.map((seq) => ({ seq, instance: write.instance })));
  return [
    writes.map(({ instance }) => instance),
    writes.map(({ epoch }) => epoch),
    ...(['instance', 'type', 'id'] as const).map((field) => removed.map((key) => key[field])),
    ...(['instance', 'type', 'id', 'sealed'] as const).map((field) => put.map((key) => key[field])),
    handled.map(({ instance }) => instance),
    handled.map(({ seq }) => seq),
  ];
};

/** The largest number of sessions in one statement. It bounds the time of the statement, and the number of single writes after its failure. */
const mostSessions = 16;
/** The largest number of rows of a session in a shared statement. A session with more rows, for example after a burst, writes alone. */
const mostRows = 64;
/**
 * The time for which writes are gathered. Timers of several sessions that are due at the same time may fire in different turns of the event loop. In
 * milliseconds.
 */
const gatherMs = 5;

interface Waiting {
  readonly write: KeyWrite;
  readonly settle: PromiseWithResolvers<void>;
}

/** Stores the key writes of several sessions in one statement. Large writes are stored alone. */
export class GatheredWrites {
  readonly #database: Database;
  readonly #alone: (write: KeyWrite) => Promise<void>;
  #waiting: Waiting[] = [];

  /** `alone` stores a single write. */
  constructor(database: Database, alone: (write: KeyWrite) => Promise<void>) {
    this.#database = database;
    this.#alone = alone;
  }

  /** Resolves when the write is stored. */
  add(write: KeyWrite): Promise<void> {
    const isLarge = write.removed.length + write.put.length + write.handled.length > mostRows;
    // A statement has at most one write of an instance, because its rows name only the instance. A second write may have another epoch.
    if (isLarge || this.#waiting.some((one) => one.write.instance === write.instance)) return this.#alone(write);
    const settle = Promise.withResolvers<void>();
    this.#waiting.push({ write, settle });
    if (this.#waiting.length === 1) setTimeout(() => this.#run(), gatherMs);
    return settle.promise;
  }

  #run(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < all.length; from += mostSessions) {
      const group = all.slice(from, from + mostSessions);
      if (group.length === 1) for (const one of group) this.#storeAlone(one);
      else void this.#storeAll(group);
    }
  }

  async #storeAll(group: readonly Waiting[]): Promise<void> {
    const values = valuesOf(group.map(({ write }) => write));
    let stored: ReadonlySet<string>;
    try {
      stored = new Set((await this.#database.rows<{ readonly id: string }>(gatheredStatements.write, values)).map(({ id }) => id));
    } catch (error) {
      const isAway = error instanceof StorageFailure && !(error instanceof StorageSlow);
      for (const one of group)
        if (isAway) one.settle.reject(error);
        else this.#storeAlone(one);
      return;
    }
    for (const one of group)
      if (stored.has(one.write.instance)) one.settle.resolve();
      else this.#storeAlone(one);
  }

  #storeAlone({ write, settle }: Waiting): void {
    void this.#alone(write).then(settle.resolve, settle.reject);
  }
}
