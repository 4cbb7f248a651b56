/** Obstacles of single messages: facts that nobody can give now. They hold up the messages behind them only for some minutes. */
import type { Time } from '../ports.ts';

/** A fact that a message needs and that nobody can give now. `on`: the file, or the recipient or group. Messages that need the same fact share its time limit. */
export interface Obstacle {
  readonly on: string;
  readonly why: 'unreadable' | 'unanswered';
}

/** The time after the first failed try from which an obstacle no longer holds up the messages behind it. In milliseconds. */
const longestObstacleMs = 300_000;

/** The texts for messages that are given up at an obstacle. */
export const givenUp: Readonly<Record<Obstacle['why'], string>> = {
  unreadable: 'its file cannot be read from the store of files',
  unanswered: 'the platform did not answer the questions about its recipient',
};

/** Measures for how long consecutive tries have met one obstacle. */
export class Patience {
  readonly #time: Pick<Time, 'monotonic'>;
  /** The obstacle of the last try, and the end of the first try that met it, by the monotonic clock. `on` is '' for none. */
  #obstacle = { on: '', since: 0 };

  constructor(time: Pick<Time, 'monotonic'>) {
    this.#time = time;
  }

  /** Notes a try that met the obstacle. Returns true if the message must be given up. */
  isOver({ on }: Obstacle): boolean {
    const now = this.#time.monotonic();
    if (this.#obstacle.on !== on) this.#obstacle = { on, since: now };
    return now - this.#obstacle.since >= longestObstacleMs;
  }

  /** Forgets the obstacle, because a try met none, or because the time without tries does not count. */
  reset(): void {
    this.#obstacle.on = '';
  }
}
