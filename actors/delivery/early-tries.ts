/**
 * Paces the early attempts at held chats. A receiver that accepts an event after a failure may accept parked events too, so each held lane is tried once more.
 * A lane with a cause of its own fails again. After each early attempt a lane therefore rests, and each rest is twice as long as the last one.
 */

/** The largest number of resting lanes that are known. Without the bound, dropped rows would leave their lanes in memory for ever. */
const mostLanes = 10_000;

interface Rest {
  /** The number of the recovery after which the lane was tried. */
  readonly recovery: number;
  /** In milliseconds. */
  readonly length: number;
  readonly until: number;
}

export class EarlyTries {
  readonly #firstRest: number;
  /** Rests by lane, the oldest attempt first. */
  readonly #rests = new Map<string, Rest>();
  #recovery = 0;

  /** `firstRest`: the rest after the first early attempt of a lane. In milliseconds. */
  constructor(firstRest: number) {
    this.#firstRest = firstRest;
  }

  /** Notes that the receiver works again. Each lane may be tried once more, after its rest. */
  recovered(): void {
    this.#recovery += 1;
  }

  /** Notes that a row of the lane is tried early. Further rows of the lane belong to the same attempt. */
  began(lane: string, now: number): void {
    const last = this.#rests.get(lane);
    if (last?.recovery === this.#recovery) return;
    const length = last === undefined ? this.#firstRest : last.length * 2;
    this.#rests.delete(lane);
    this.#rests.set(lane, { recovery: this.#recovery, length, until: now + length });
    const [oldest] = this.#rests.keys();
    if (this.#rests.size > mostLanes && oldest !== undefined) this.#rests.delete(oldest);
  }

  /** Forgets the rest of a lane whose first row has ended. */
  ended(lane: string): void {
    if (this.#rests.size > 0) this.#rests.delete(lane);
  }

  /** Returns the time from which the lane may be tried early; Infinity if the lane was tried since the last recovery. */
  from(lane: string): number {
    const rest = this.#rests.get(lane);
    if (rest === undefined) return 0;
    return rest.recovery === this.#recovery ? Infinity : rest.until;
  }
}
