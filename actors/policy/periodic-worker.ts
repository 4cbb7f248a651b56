/** Periodic background work: a supervised worker, the timer that wakes it, and the pause between two batches of its work. */
import { EpochLost, StorageFailure, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from './supervised-workers.ts';
import { Pause } from '../waiting.ts';

export interface PeriodicInput {
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** The name of the worker in the crash count. */
  readonly name: string;
  /** The time between two rounds. In milliseconds. */
  readonly everyMs: number;
  /** The log event of a round in which storage did not answer or belonged to another process. The next round retries, so this is not a crash. */
  readonly unanswered: string;
  /** Returns false if another process does the work now. The round is then skipped. */
  onDuty?(): boolean;
  /** Runs one round. A round with several batches waits between them with `pause`, and stops when `pause.ended`. */
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

  /** Starts the timer. The first round begins after `everyMs`. */
  start(): void {
    const { time, everyMs } = this.#input;
    this.#timer = time.setTimeout(() => {
      this.start();
      this.wake();
    }, everyMs);
  }

  /** Starts a round now, or after the current round. */
  wake(): void {
    this.#worker.wake();
  }

  /** Stops the worker. A current round stops after its batch. Idempotent. */
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
