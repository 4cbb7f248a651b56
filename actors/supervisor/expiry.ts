/** Removes rows that are too old, of all instances: now and then, piece after piece, so that no statement grows with the table. */
import { StorageFailure, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../supervised-workers.ts';
import { Pause } from '../waiting.ts';

/** Milliseconds between two looks, and between two pieces, which leave the database to the others. */
const everyMs = 600_000;
const restMs = 20;
/** Rows of one piece. */
const pieceRows = 1_000;

/** What grows old. */
export interface Perishable {
  readonly name: string;
  /** Milliseconds that a row is kept. */
  readonly age: number;
  /** Removes what is from before this time (Unix milliseconds), at most `limit` rows. Answers how many. */
  expire(before: number, limit: number): Promise<number>;
}

export interface ExpiryInput {
  readonly perishables: readonly Perishable[];
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
}

export class Expiry {
  readonly #input: ExpiryInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;
  #timer: unknown = null;

  constructor(input: ExpiryInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'expiry', run: () => this.#run() });
  }

  start(): void {
    this.#timer = this.#input.time.setTimeout(() => {
      this.start();
      this.#worker.wake();
    }, everyMs);
  }

  stop(): void {
    this.#worker.stop();
    this.#pause.end();
    this.#input.time.clearTimeout(this.#timer);
  }

  /** A storage that has no answer now is asked again at the next look. */
  async #run(): Promise<void> {
    for (const perishable of this.#input.perishables) {
      try {
        await this.#expire(perishable);
      } catch (error) {
        if (!(error instanceof StorageFailure)) throw error;
        return this.#input.log.warn({ rows: perishable.name, error }, 'rows.notExpired');
      }
    }
  }

  async #expire({ name, age, expire }: Perishable): Promise<void> {
    const before = this.#input.time.now() - age;
    let rows = 0;
    for (let removed = pieceRows; removed === pieceRows && !this.#pause.ended;) {
      removed = await expire(before, pieceRows);
      rows += removed;
      if (removed === pieceRows) await this.#pause.wait(restMs);
    }
    if (rows > 0) this.#input.log.info({ name, rows }, 'rows.expired');
  }
}
