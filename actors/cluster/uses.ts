/** Counts the commands that use each instance, with the time of the last use. A session is not closed during a command or right after one. */
import type { InstanceId } from '../model.ts';
import type { Time } from '../ports.ts';

interface Use {
  readonly count: number;
  readonly at: number;
  readonly waiting: readonly (() => void)[];
}

const none: Use = { count: 0, at: -Infinity, waiting: [] };

export class Uses {
  readonly #time: Time;
  readonly #uses = new Map<InstanceId, Use>();

  constructor(time: Time) {
    this.#time = time;
  }

  async during<T>(id: InstanceId, work: () => Promise<T>): Promise<T> {
    this.#change(id, 1);
    try {
      return await work();
    } finally {
      this.#change(id, -1);
    }
  }

  note(id: InstanceId): void {
    this.#change(id, 0);
  }

  count(id: InstanceId): number {
    return this.#uses.get(id)?.count ?? 0;
  }

  /** Returns the time of the last use. In Unix milliseconds. */
  lastAt(id: InstanceId): number {
    return this.#uses.get(id)?.at ?? none.at;
  }

  /** Resolves when no command uses the instance. */
  ended(id: InstanceId): Promise<void> {
    const use = this.#uses.get(id);
    if (!use || use.count === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#uses.set(id, { ...use, waiting: [...use.waiting, resolve] }));
  }

  forget(id: InstanceId): void {
    if (this.count(id) === 0) this.#uses.delete(id);
  }

  #change(id: InstanceId, by: number): void {
    const { count, waiting } = this.#uses.get(id) ?? none;
    const left = count + by;
    this.#uses.set(id, { count: left, at: this.#time.now(), waiting: left === 0 ? [] : waiting });
    if (left === 0) for (const resolve of waiting) resolve();
  }
}
