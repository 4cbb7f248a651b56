/** The database of a simulated cluster: leases, epochs and the events of each instance. A statement can fail before or after it was executed. */
import type { InstanceId } from '#actors/model.ts';
import { EpochLost, StorageUnavailable } from '#actors/ports.ts';
import { FakeLeases } from '#test/fakes/leases.ts';
import type { FakeTime } from '#test/fakes/time.ts';
import type { Chaos } from './simulated-chaos.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface Committed {
  readonly id: string;
  readonly node: string;
}

/** The database connection of one process. */
export interface Connection {
  readonly process: SimulatedProcess;
  reachable(): boolean;
}

export class SimulatedDatabase {
  /** Milliseconds by which the clock of the database has been set. */
  offset = 0;
  readonly leases: FakeLeases;
  readonly journal = new Map<InstanceId, Committed[]>();
  readonly #time: FakeTime;
  readonly #chaos: Chaos;

  constructor(time: FakeTime, chaos: Chaos) {
    this.#time = time;
    this.#chaos = chaos;
    this.leases = new FakeLeases(() => time.now() + this.offset);
  }

  /** Executes a statement of that process, with all faults that can happen to a statement. */
  async execute<T>({ process, reachable }: Connection, work: () => T | Promise<T>): Promise<T> {
    const { end, before, after } = this.#chaos.statement();
    const trip = async (): Promise<T> => {
      await this.#pause(before);
      if (end === 'refused' || !reachable()) throw new StorageUnavailable('the database is not available');
      const result = await work();
      await this.#pause(after);
      if (end === 'unanswered' || !reachable()) throw new StorageUnavailable('the database did not answer');
      return result;
    };
    return process.received(trip());
  }

  /** Returns the store with each method executed as a statement of that process. */
  over<S extends object>(connection: Connection, store: S): S {
    const methods = Object.entries(store) as [string, (...args: unknown[]) => Promise<unknown>][];
    const entries = methods.map(([name, work]) => [name, (...args: unknown[]) => this.execute(connection, () => work(...args))]);
    return Object.fromEntries(entries) as S;
  }

  /** Stores an event. Repeating the call is safe. */
  commit(id: InstanceId, epoch: number, event: Committed): void {
    if (this.leases.epochOf(id) !== epoch) throw new EpochLost('the instance has another owner');
    const events = this.journal.get(id) ?? [];
    this.journal.set(id, events);
    if (!events.some((one) => one.id === event.id)) events.push(event);
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.#time.setTimeout(resolve, ms));
  }
}
