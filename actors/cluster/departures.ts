/**
 * Moves sessions to other nodes at an even pace, and few at once. A session leaves only when enough earlier sessions are connected again. Each
 * session is thus down only for its own move, however slow the other nodes are.
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
  /** Moves one session. Resolves when the session is connected on another node, when it stays, or after some seconds. Never rejects. */
  leave(departure: Departure): Promise<void>;
}

export class Departures {
  readonly #input: DeparturesInput;
  #planned: Departure[] = [];
  #onTheirWay = 0;
  /** Pause between two departures. In milliseconds. */
  #every = 0;
  /** Earliest time of the next departure, by the monotonic clock. */
  #nextAt = -Infinity;
  #timer: unknown = null;

  constructor(input: DeparturesInput) {
    this.#input = input;
  }

  /** Replaces the departures that were planned before and have not begun. */
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
