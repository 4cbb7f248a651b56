/**
 * Sessions that leave for other nodes: at an even pace, and few at once. None leaves while too many of those before it are not connected again, so that
 * none is away for longer than its own way takes, however slow the other nodes are.
 */
import type { InstanceId } from '../model.ts';
import type { Time } from '../ports.ts';

export interface Departure {
  readonly id: InstanceId;
  /** Name of the next owner. */
  readonly to: string;
}

export interface DeparturesInput {
  readonly time: Pick<Time, 'monotonic' | 'setTimeout' | 'clearTimeout'>;
  readonly atOnce: number;
  /** Resolves when the session is connected elsewhere, when it stays after all, or after some seconds. Never rejects. */
  leave(departure: Departure): Promise<void>;
}

export class Departures {
  readonly #input: DeparturesInput;
  #planned: Departure[] = [];
  #onTheirWay = 0;
  /** Milliseconds between two. */
  #every = 0;
  /** Monotonic. */
  #nextAt = -Infinity;
  #timer: unknown = null;

  constructor(input: DeparturesInput) {
    this.#input = input;
  }

  /** In place of what was planned before and has not begun. */
  plan(departures: readonly Departure[], perSecond: number): void {
    this.#planned = [...departures];
    this.#every = 1000 / perSecond;
    this.#advance();
  }

  #advance(): void {
    const { time, atOnce } = this.#input;
    time.clearTimeout(this.#timer);
    while (this.#onTheirWay < atOnce) {
      const [departure] = this.#planned;
      if (departure === undefined) return;
      const wait = this.#nextAt - time.monotonic();
      if (wait > 0) {
        this.#timer = time.setTimeout(() => this.#advance(), wait);
        return;
      }
      this.#planned.shift();
      this.#nextAt = time.monotonic() + this.#every;
      this.#begin(departure);
    }
  }

  #begin(departure: Departure): void {
    this.#onTheirWay += 1;
    void this.#input.leave(departure).finally(() => {
      this.#onTheirWay -= 1;
      this.#advance();
    });
  }
}
