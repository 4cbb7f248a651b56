/**
 * Watches an entry that repeatedly takes too long in the database. If the whole database is slow, no other entry is stored either, and the entry waits. If
 * only this entry is slow, it would block its session for ever. Such an entry is set aside as if the database had refused the entry.
 */

/**
 * The number of slow attempts after which the next entry is tried, to prove that only this entry is slow. Each attempt takes at most the statement time-out
 * (DATABASE_STATEMENT_MS).
 */
const attemptsBeforeProof = 5;
/** The number of slow attempts after which the entry is set aside without a proof. These attempts and their pauses take about an hour. */
const mostAttempts = 60;

/** Bounds of the pause between two attempts. In milliseconds. */
const pauses = { first: 500, longest: 60_000 } as const;

export class SlowEntry {
  #number = 0;
  #attempts = 0;
  #isProved = false;

  /** Counts a slow attempt at the entry with this number. */
  note(number: number): void {
    if (number !== this.#number) [this.#number, this.#attempts, this.#isProved] = [number, 0, false];
    this.#attempts += 1;
  }

  /** Notes that another entry was stored meanwhile. */
  otherStored(): void {
    this.#isProved = this.#attempts >= attemptsBeforeProof;
  }

  /** Resets the count, because the entry was stored or set aside. */
  over(): void {
    [this.#number, this.#attempts, this.#isProved] = [0, 0, false];
  }

  get isHopeless(): boolean {
    return this.#isProved || this.#attempts >= mostAttempts;
  }

  get wantsProof(): boolean {
    return this.#attempts >= attemptsBeforeProof && !this.#isProved;
  }

  /** True if more than one attempt was too slow. */
  get isStuck(): boolean {
    return this.#attempts > 1;
  }

  get pause(): number {
    return Math.min(pauses.longest, pauses.first * 2 ** Math.max(0, this.#attempts - 1));
  }
}
