/** Keeps the store of files in order: after a start, and then now and then, it looks at every part of it, and bounds its bytes. */
import { StorageFailure, type FileStore, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../supervised-workers.ts';
import { Pause } from '../waiting.ts';

/** Milliseconds between two looks at the sum of bytes, and between two pieces, which leave the disk and the database to the others. */
const everyMs = 60_000;
const restMs = 20;
/** Looks at the sum between two looks at every part: a day. */
const looksPerAudit = 1_440;
/** Files that go at once: they may be large. */
const pieceFiles = 20;

export interface FileKeeperInput {
  readonly files: FileStore;
  /** Bytes of all files together; 0: no limit. */
  readonly most: number;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
}

export class FileKeeper {
  readonly #input: FileKeeperInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;
  #timer: unknown = null;
  #looks = 0;
  /** Where the look at every part goes on. */
  #part = 0;

  constructor(input: FileKeeperInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'fileKeeper', run: () => this.#run() });
  }

  start(): void {
    this.#worker.wake();
    this.#timer = this.#input.time.setTimeout(() => {
      this.#looks += 1;
      if (this.#looks % looksPerAudit === 0) this.#part = 0;
      this.start();
    }, everyMs);
  }

  stop(): void {
    this.#worker.stop();
    this.#pause.end();
    this.#input.time.clearTimeout(this.#timer);
  }

  /** A store that has no answer now is asked again at the next look. */
  async #run(): Promise<void> {
    try {
      await this.#audit();
      await this.#bound();
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      this.#input.log.warn({ error }, 'files.notKept');
    }
  }

  async #audit(): Promise<void> {
    const { files, log } = this.#input;
    const sum = { blobs: 0, rows: 0 };
    for (; this.#part < files.parts && !this.#pause.ended; this.#part += 1) {
      const found = await files.audit(this.#part);
      sum.blobs += found.blobs;
      sum.rows += found.rows;
      await this.#pause.wait(restMs);
    }
    if (sum.blobs + sum.rows > 0) log.info(sum, 'files.orphansRemoved');
  }

  async #bound(): Promise<void> {
    const { files, most, time, log } = this.#input;
    if (most === 0) return;
    let removed = 0;
    while ((files.bytes ?? 0) > most && !this.#pause.ended) {
      const piece = await files.removeUnused(time.now(), pieceFiles);
      if (piece === 0) break;
      removed += piece;
      await this.#pause.wait(restMs);
    }
    if (removed > 0) log.info({ removed, bytes: files.bytes }, 'files.bounded');
  }
}
