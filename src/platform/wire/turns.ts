/**
 * Turns of the event loop, given out to pieces of work that come by the hundred: who came first goes first, whichever session it is of, and
 * everybody else gets on in between.
 */

export interface TurnLimits {
  /** Pieces that a turn takes at least. */
  readonly least: number;
  /** Milliseconds of the thread that a piece takes, about. */
  readonly cost: number;
}

/** Share of all sessions of the process. */
export interface SharedTurns {
  readonly frames: Turns;
  readonly messages: Turns;
}

/** Share of the time since the last turn. If other work keeps the loop busy, each of its rounds takes longer, and these tasks must not starve. */
const share = 0.25;

export class Turns {
  readonly #limits: TurnLimits;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #coming = false;
  #since = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#left = limits.least;
  }

  /** Does the work, now or in a later turn. */
  take(work: () => void): void {
    this.#next();
    if (this.#left === 0 || this.#waiting.length > 0) return void this.#waiting.push(work);
    this.#left -= 1;
    work();
  }

  /** Resolves when it is the caller's turn. */
  taken(): Promise<void> {
    return new Promise((resolve) => this.take(resolve));
  }

  #next(): void {
    if (this.#coming) return;
    this.#coming = true;
    this.#since = performance.now();
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const { least, cost } = this.#limits;
    this.#coming = false;
    this.#left = Math.max(least, Math.floor(((performance.now() - this.#since) * share) / cost));
    // Before the work, which may throw: that is not the next one's loss.
    if (this.#waiting.length > 0) this.#next();
    while (this.#left > 0 && this.#waiting.length > 0) {
      this.#left -= 1;
      this.#waiting.shift()?.();
    }
  }
}
