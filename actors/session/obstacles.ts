/**
 * Obstacles of single messages: a file that cannot be read, or a look-up that the platform does not answer. An obstacle delays the later messages only for some
 * minutes.
 */
import type { Time } from '../ports.ts';

/**
 * A file or an answer that a message needs, and that is not available now. `on`: the file, or the recipient or group that is looked up. Messages that need the
 * same file or answer share its time limit.
 */
export interface Obstacle {
  readonly on: string;
  readonly why: 'unreadable' | 'unanswered';
}

/**
 * The longest time for which attempts may fail at one obstacle. After this time, a message that fails at it is given up, so that the messages behind it are
 * sent. In milliseconds.
 */
const longestObstacleMs = 300_000;

/** The texts for messages that are given up at an obstacle. */
export const givenUp: Readonly<Record<Obstacle['why'], string>> = {
  unreadable: 'its file cannot be read from the store of files',
  unanswered: 'the platform did not answer the questions about its recipient',
};

/** Measures how long consecutive attempts have failed at the same obstacle. */
export class Patience {
  readonly #time: Pick<Time, 'monotonic'>;
  /** The obstacle of the last attempt (`on` is '' for none), and the end of the first attempt that failed at it, by the monotonic clock. */
  #obstacle = { on: '', since: 0 };

  constructor(time: Pick<Time, 'monotonic'>) {
    this.#time = time;
  }

  /** Notes an attempt that failed at the obstacle. Returns true if the message must be given up. */
  isOver({ on }: Obstacle): boolean {
    const now = this.#time.monotonic();
    if (this.#obstacle.on !== on) this.#obstacle = { on, since: now };
    return now - this.#obstacle.since >= longestObstacleMs;
  }

  /** Forgets the obstacle, because an attempt met no obstacle, or because a time without attempts does not count. */
  reset(): void {
    this.#obstacle.on = '';
  }
}
