/**
 * Removes the rows of removed instances and webhooks in the background, in batches. After a crash or a stop, the next start resumes an interrupted
 * removal.
 */
import type { Log, Removal, RemovalStore, Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Pause, untilStored } from '../waiting.ts';

/** Pause between two batches, so that other queries get the database. In milliseconds. */
const restMs = 20;

export interface RowRemoverInput {
  readonly removals: RemovalStore;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** True if this process does the work that one node does for the cluster. */
  onDuty?(): boolean;
}

export class RowRemover {
  readonly #input: RowRemoverInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;

  constructor(input: RowRemoverInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'remover', run: () => this.#run() });
  }

  /** Starts a run, because rows are pending for removal, or may be since an earlier run. */
  wake(): void {
    this.#worker.wake();
  }

  stop(): void {
    this.#worker.stop();
    this.#pause.end();
  }

  /** Tries every pending removal, even if one fails. The first failure then crashes the worker. */
  async #run(): Promise<void> {
    if (this.#input.onDuty?.() === false) return;
    const failures: unknown[] = [];
    for (const removal of await untilStored(this.#pause, () => this.#input.removals.pending())) {
      try {
        await this.#remove(removal);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #remove(removal: Removal): Promise<void> {
    let pieces = 1;
    while (!this.#pause.ended && (await untilStored(this.#pause, () => this.#input.removals.removePiece(removal)))) {
      pieces += 1;
      await this.#pause.wait(restMs);
    }
    if (!this.#pause.ended) this.#input.log.info({ ...removal, pieces }, 'rows.removed');
  }
}
