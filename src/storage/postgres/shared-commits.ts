/**
 * Commits of several sessions that share one write to the disk. The server delays a commit by `commit_delay` while at least `commit_siblings` other
 * transactions are under way, and then writes all of them at once. Five siblings are right for a few sessions, whose next text waits for the commit.
 * The short transactions of 200 lively sessions seldom meet five others, although hundreds of them end in a second. So many sessions set it to zero.
 */
import { performance } from 'node:perf_hooks';
import { StorageBroken } from '#actors/ports.ts';
import { explained, explainedOfDriver } from './failures.ts';
import type { Client } from './orm.ts';

export interface SharedCommits {
  /** Counts an instance among those that write at present. */
  note(instance: string): void;
  /** Brings the setting of a connection to what the number of writing instances asks. Rejects with StorageUnavailable. */
  settle(client: Client): Promise<void>;
}

/** Milliseconds in which writing instances are counted. */
const periodMs = 5_000;
/**
 * The number of writing instances at which every commit waits. With two texts a second each, 64 sessions make about one commit in the usual 3 ms, so
 * that a commit of fewer would mostly wait for nothing.
 */
const manyInstances = 64;

/** `now`: milliseconds of a clock that never goes back. */
export const createSharedCommits = (now: () => number = () => performance.now()): SharedCommits => {
  const writing = new Set<string>();
  const waiting = new WeakSet<Client>();
  let [since, areMany] = [now(), false];

  const set = async (client: Client, isWaiting: boolean): Promise<void> => {
    if (isWaiting) waiting.add(client);
    else waiting.delete(client);
    const text = isWaiting ? 'set commit_siblings = 0' : 'reset commit_siblings';
    await client.query({ name: '', text }).catch((error: unknown) => {
      // A server that refuses the setting stores as well without it.
      if (!(explained(error) instanceof StorageBroken)) throw explainedOfDriver(error);
    });
  };

  return {
    note(instance) {
      if (now() - since >= periodMs) {
        areMany = writing.size >= manyInstances;
        writing.clear();
        since = now();
      }
      writing.add(instance);
      if (writing.size >= manyInstances) areMany = true;
    },
    settle: (client) => (waiting.has(client) === areMany ? Promise.resolve() : set(client, areMany)),
  };
};
