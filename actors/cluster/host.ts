/** The host of the cluster code, which is the gateway on the same node, and the commands that travel between nodes. */
import type { InstanceId, Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Ports, Time } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';

export interface ClusterHost {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  /** Start of the process. In Unix milliseconds. */
  readonly since: number;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  wake(cell: Cell): void;
  /** Forgets an instance that is gone. */
  forget(id: InstanceId): void;
  /** Ends the work for an instance outside its cell and clears its caches, because another node becomes its owner. May be called more than once. */
  forgetBeside(id: InstanceId): void;
}

/** A command on an instance, as the receiving node holds it. */
export interface Command<T> {
  readonly id: InstanceId;
  readonly method: string;
  /** Returns the arguments that travel to the owner, if another node owns the instance. A refusal is the answer of the command. */
  args(): Promise<Result<readonly unknown[]>>;
  /** Runs the command on this node. */
  here(): Promise<T>;
}

/** Runs commands of other nodes. */
export interface Performer {
  knows(method: string): boolean;
  /** Runs a method. The caller must check `knows` first. */
  run(method: string, args: readonly unknown[]): Promise<unknown>;
}

// Counts the commands that use each instance, with the time of the last use. A session is not closed during a command or right after one.

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
