/** Background work that is done now and then: a supervised worker, the timer that wakes it, and the pause between two pieces of its work. */
import { EpochLost, StorageFailure, type Log, type Time } from './ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from './supervised-workers.ts';
import { Pause } from './waiting.ts';

export interface PeriodicInput {
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** Names the crash count. */
  readonly name: string;
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  /** Name of the warning when storage did not answer in a round, or belongs to another process now. The next round asks again: this is not a crash. */
  readonly unanswered: string;
  /** False: this process is not the one that does the work now, and the round is left out. */
  onDuty?(): boolean;
  /** One round. Work in pieces waits between them by `pause`, and ends when `pause.ended`. */
  run(pause: Pause): Promise<void>;
}

export class PeriodicWorker {
  readonly #input: PeriodicInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;
  #timer: unknown = null;

  constructor(input: PeriodicInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: input.name, run: () => this.#run() });
  }

  /** The first round begins after `everyMs`. */
  start(): void {
    const { time, everyMs } = this.#input;
    this.#timer = time.setTimeout(() => {
      this.start();
      this.wake();
    }, everyMs);
  }

  /** A round begins now, or after the one that is under way. */
  wake(): void {
    this.#worker.wake();
  }

  /** The round that is under way ends after its piece. Idempotent. */
  stop(): void {
    this.#worker.stop();
    this.#pause.end();
    this.#input.time.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#input.onDuty?.() === false) return;
    try {
      await this.#input.run(this.#pause);
    } catch (error) {
      if (!(error instanceof StorageFailure || error instanceof EpochLost)) throw error;
      this.#input.log.warn({ error }, this.#input.unanswered);
    }
  }
}
