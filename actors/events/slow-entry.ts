/**
 * Watches an entry that the database takes too long for, again and again. A slow database stores nothing else either, so the entry waits with the
 * others. An entry that alone is too slow would block its session for ever: it is set aside as if the database had refused it.
 */

/** Attempts after which the entry behind it is tried. Each attempt takes as long as a statement may (DATABASE_STATEMENT_MS). */
const attemptsBeforeProof = 5;
/** Attempts after which the entry is set aside though no entry behind it has proved anything: an hour with the longest pause. */
const mostAttempts = 60;

/** Milliseconds between two attempts. */
const pauses = { first: 500, longest: 60_000 } as const;

export class SlowEntry {
  #number = 0;
  #attempts = 0;
  #isProved = false;

  /** The entry with this number took too long once more. */
  note(number: number): void {
    if (number !== this.#number) [this.#number, this.#attempts, this.#isProved] = [number, 0, false];
    this.#attempts += 1;
  }

  /** Another entry was stored meanwhile. */
  otherStored(): void {
    this.#isProved = this.#attempts >= attemptsBeforeProof;
  }

  /** The entry was stored or set aside. */
  over(): void {
    [this.#number, this.#attempts, this.#isProved] = [0, 0, false];
  }

  get isHopeless(): boolean {
    return this.#isProved || this.#attempts >= mostAttempts;
  }

  get wantsProof(): boolean {
    return this.#attempts >= attemptsBeforeProof && !this.#isProved;
  }

  /** More than one attempt was too slow. */
  get isStuck(): boolean {
    return this.#attempts > 1;
  }

  get pause(): number {
    return Math.min(pauses.longest, pauses.first * 2 ** Math.max(0, this.#attempts - 1));
  }
}
