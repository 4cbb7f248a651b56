/** Random faults between nodes, their database and their bus. */

/** Probabilities between 0 and 1, each for one statement or one message. */
export interface Odds {
  /** The statement fails before the database has executed it. */
  readonly refused: number;
  /** The database executes the statement, and its reply is lost. */
  readonly unanswered: number;
  readonly slow: number;
  /** A subscription throws. */
  readonly unsubscribed: number;
  readonly late: number;
  readonly lost: number;
  readonly doubled: number;
}

export const calm: Odds = { refused: 0, unanswered: 0, slow: 0, unsubscribed: 0, late: 0, lost: 0, doubled: 0 };

/** Milliseconds. */
export const mostLate = 1_500;
const most = { slow: 3_000, late: mostLate };

export class Chaos {
  odds: Odds = calm;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  statement(): { readonly end: 'refused' | 'unanswered' | 'answered'; readonly before: number; readonly after: number } {
    const { refused, unanswered, slow } = this.odds;
    const drawn = this.#random();
    const end = drawn < refused ? 'refused' : drawn < refused + unanswered ? 'unanswered' : 'answered';
    return { end, before: this.#delay(slow, most.slow), after: this.#delay(slow, most.slow) };
  }

  subscribes(): boolean {
    return this.#random() >= this.odds.unsubscribed;
  }

  /** Returns the number of times a message from the server arrives. The order within one connection stays. */
  arrivals(): number {
    const { lost, doubled } = this.odds;
    const drawn = this.#random();
    return drawn < lost ? 0 : drawn < lost + doubled ? 2 : 1;
  }

  lateness(): number {
    return this.#delay(this.odds.late, most.late);
  }

  #delay(odds: number, longest: number): number {
    return this.#random() < odds ? Math.ceil(this.#random() * longest) : 0;
  }
}
