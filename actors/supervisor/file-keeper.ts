/** Keeps the file store in order. The keeper audits every part of the store after a start and then daily, and bounds the sum of bytes. */
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { FileStore, Log, Time } from '../ports.ts';
import type { Pause } from '../waiting.ts';

/** Pause between two checks of the sum, and between two batches, so that other work gets the disk and the database. In milliseconds. */
const everyMs = 60_000;
const restMs = 20;
/** Checks of the sum per audit of every part: one audit a day. */
const looksPerAudit = 1_440;
/** Files per batch. Files may be large. */
const pieceFiles = 20;

export interface FileKeeperInput {
  readonly files: FileStore;
  /** Limit of the bytes in this store; 0 means no limit. */
  readonly most: number;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** False if another node cleans this store, which all nodes share. */
  onDuty?(): boolean;
}

export class FileKeeper {
  readonly #input: FileKeeperInput;
  readonly #worker: PeriodicWorker;
  #looks = 0;
  /** Index of the part that the audit checks next. */
  #part = 0;

  constructor(input: FileKeeperInput) {
    this.#input = input;
    const { time, log, workers, onDuty = () => true } = input;
    const run = (pause: Pause): Promise<void> => this.#run(pause);
    this.#worker = new PeriodicWorker({ time, log, workers, name: 'fileKeeper', everyMs, unanswered: 'files.notKept', onDuty, run });
  }

  start(): void {
    this.#worker.wake();
    this.#worker.start();
  }

  stop(): void {
    this.#worker.stop();
  }

  async #run(pause: Pause): Promise<void> {
    if (this.#looks % looksPerAudit === 0) this.#part = 0;
    this.#looks += 1;
    await this.#audit(pause);
    await this.#bound(pause);
  }

  async #audit(pause: Pause): Promise<void> {
    const { files, log } = this.#input;
    const sum = { blobs: 0, rows: 0 };
    for (; this.#part < files.parts && !pause.ended; this.#part += 1) {
      const found = await files.audit(this.#part);
      sum.blobs += found.blobs;
      sum.rows += found.rows;
      await pause.wait(restMs);
    }
    if (sum.blobs + sum.rows > 0) log.info(sum, 'files.orphansRemoved');
  }

  async #bound(pause: Pause): Promise<void> {
    const { files, most, time, log } = this.#input;
    if (most === 0) return;
    let removed = 0;
    while ((files.bytes ?? 0) > most && !pause.ended) {
      const piece = await files.removeUnusedHere(time.now(), pieceFiles);
      if (piece === 0) break;
      removed += piece;
      await pause.wait(restMs);
    }
    if (removed > 0) log.info({ removed, bytes: files.bytes }, 'files.bounded');
  }
}
