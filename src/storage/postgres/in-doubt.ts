/**
 * Statements whose answer never came. The server may still execute one of them later, after what is written next, and so bring an older state back:
 * a given-up message as queued, a ratchet as it was before. Their connections are therefore ended at the server before the pool works on.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createMutex } from '#actors/waiting.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import type { Client } from './orm.ts';

export interface InDoubt {
  /** The last statement of this connection had no answer. */
  add(client: Client): void;
  /** Resolves when the server has ended all such connections; asks over `client`. Rejects with `StorageUnavailable` when it does not end them in time. */
  settle(client: Client): Promise<void>;
}

/**
 * Ends connections of this user only. After a switch to another server the backend PID may belong to another user. PostgreSQL may also reuse a PID for
 * another connection of this user. Ending that one is harmless, because its work is retried.
 */
const terminate = {
  name: 'doubtful-end',
  text: `select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1::int[]) and usename = current_user and pid <> pg_backend_pid()`,
};
const remaining = {
  name: 'doubtful-left',
  text: `select pid from pg_stat_activity where pid = any($1::int[]) and usename = current_user and pid <> pg_backend_pid()`,
};

/** Milliseconds between two looks, and for all of them. */
const lookEvery = 10;
const patience = 2_000;

const endAll = async (client: Client, pids: readonly number[]): Promise<void> => {
  const values = [pids];
  await client.query({ ...terminate, values });
  for (let waited = 0; (await client.query({ ...remaining, values })).rows.length > 0; waited += lookEvery) {
    if (waited >= patience) throw new StorageUnavailable('a connection whose statement was not answered could not be ended');
    await wait(lookEvery);
  }
};

export const createInDoubt = (): InDoubt => {
  const doubtful = new Set<number>();
  const serially = createMutex();

  const settleAll = async (client: Client): Promise<void> => {
    while (doubtful.size > 0) {
      const pids = [...doubtful];
      await endAll(client, pids);
      for (const pid of pids) doubtful.delete(pid);
    }
  };

  return {
    add({ processID }) {
      if (typeof processID === 'number') doubtful.add(processID);
    },
    settle: (client) => (doubtful.size === 0 ? Promise.resolve() : serially(() => settleAll(client))),
  };
};
