/** Keeps the store of files in order: after a start, and then now and then, it looks at every part of it, and bounds its bytes. */
import { PeriodicWorker } from '../periodic-worker.ts';
import type { FileStore, Log, Time } from '../ports.ts';
import type { SupervisedWorkers } from '../supervised-workers.ts';
import type { Pause } from '../waiting.ts';

/** Milliseconds between two looks at the sum of bytes, and between two pieces, which leave the disk and the database to the others. */
const everyMs = 60_000;
const restMs = 20;
/** Looks at the sum between two looks at every part: a day. */
const looksPerAudit = 1_440;
/** Files that go at once: they may be large. */
const pieceFiles = 20;

export interface FileKeeperInput {
  readonly files: FileStore;
  /** Bytes of the files of this store; 0: no limit. */
  readonly most: number;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** False: another node looks after these files, which are in a store that all share. */
  onDuty?(): boolean;
}

export class FileKeeper {
  readonly #input: FileKeeperInput;
  readonly #worker: PeriodicWorker;
  #looks = 0;
  /** Where the look at every part goes on. */
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
