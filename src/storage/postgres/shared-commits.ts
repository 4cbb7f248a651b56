/**
 * Commits of several sessions that share one write to the disk. The server delays a commit by `commit_delay` if at least `commit_siblings` other transactions
 * are open. All commits during the delay then share one write. The default is five siblings. With few sessions this default rarely delays a commit. That is
 * good, because the next message of a session waits for the commit. With 200 active sessions, hundreds of transactions commit each second. These transactions
 * are so short that five others are rarely open at once. With many sessions, `commit_siblings` is therefore zero, so that each commit waits for `commit_delay`.
 */
import { performance } from 'node:perf_hooks';
import { StorageBroken } from '#actors/ports.ts';
import { explained, explainedOfDriver } from './failures.ts';
import type { Client } from './orm.ts';

/** The length of the period in which writing instances are counted. In milliseconds. */
const periodMs = 5_000;
/**
 * The number of writing instances from which each commit waits. With two texts per second and session, 64 sessions make about one commit in the 3 ms of
 * `commit_delay`. With fewer sessions, most commits would meet no other commit during their delay.
 */
const manyInstances = 64;

/** Counts the writing instances, and sets `commit_siblings` on the connections of the pools. */
export class SharedCommits {
  readonly #now: () => number;
  readonly #writing = new Set<string>();
  readonly #waiting = new WeakSet<Client>();
  #since: number;
  #areMany = false;

  /** `now` returns the milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** Counts the instance as writing for the current period. */
  note(instance: string): void {
    if (this.#now() - this.#since >= periodMs) {
      this.#areMany = this.#writing.size >= manyInstances;
      this.#writing.clear();
      this.#since = this.#now();
    }
    this.#writing.add(instance);
    if (this.#writing.size >= manyInstances) this.#areMany = true;
  }

  /** Sets `commit_siblings` of a connection if the number of writing instances requires another value. Rejects with `StorageUnavailable`. */
  settle(client: Client): Promise<void> {
    return this.#waiting.has(client) === this.#areMany ? Promise.resolve() : this.#set(client, this.#areMany);
  }

  async #set(client: Client, isWaiting: boolean): Promise<void> {
    if (isWaiting) this.#waiting.add(client);
    else this.#waiting.delete(client);
    const text = isWaiting ? 'set commit_siblings = 0' : 'reset commit_siblings';
    await client.query({ name: '', text }).catch((error: unknown) => {
      // If PostgreSQL refuses the setting, data is stored without it.
      if (!(explained(error) instanceof StorageBroken)) throw explainedOfDriver(error);
    });
  }
}
