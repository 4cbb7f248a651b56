/** Watches the machine of this node: compares its clock with the clock of the database, and checks the free space on the disk of the data folder. */
import { statfs } from 'node:fs/promises';
import { type Disk, type Log, StorageFailure, type Time } from '#actors/ports.ts';

// The clock of a node: the clock of its machine, corrected if the clock of the database differs. Nodes compare times that other nodes stored. If the clock of
// one node is an hour ahead, a retry that this node schedules for the next second must not wait for an hour on another node.

export interface NodeTime extends Time {
  /** Corrects the clock by the time of the database, in Unix milliseconds. The database read its clock within the last `tripMs` milliseconds. */
  noteDatabaseTime(now: number, tripMs: number): void;
}

/** The largest difference that is not corrected. Machines with a time service differ by less. In milliseconds. */
const tolerated = 2_000;

class Correction {
  readonly #system: Time;
  readonly #log: Log;
  #ms = 0;

  constructor(system: Time, log: Log) {
    this.#system = system;
    this.#log = log;
  }

  get ms(): number {
    return this.#ms;
  }

  note(now: number, tripMs: number): void {
    const difference = Math.round(now + tripMs / 2 - this.#system.now());
    const most = tolerated + tripMs;
    const wanted = Math.abs(difference) <= most ? 0 : difference;
    if (wanted !== 0 && Math.abs(wanted - this.#ms) <= most) return;
    if (wanted !== this.#ms) this.#log.warn({ behindMs: wanted }, 'node.clockCorrected');
    this.#ms = wanted;
  }
}

export const nodeTime = (system: Time, log: Log): NodeTime => {
  const correction = new Correction(system, log);
  return {
    ...system,
    now: () => system.now() + correction.ms,
    correction: () => correction.ms,
    noteDatabaseTime: (now, tripMs) => correction.note(now, tripMs),
  };
};

// Compares the clock of a single gateway with the clock of its database. Nodes of a cluster get the time of the database with each renewal
// of their lease.

/** The pause between two checks of the clock. In milliseconds. */
const clockCheckMs = 10_000;

interface DatabaseTimeInput {
  readonly time: Pick<NodeTime, 'noteDatabaseTime'>;
  /** Returns the time of the database's clock, in Unix milliseconds. */
  ask(): Promise<number>;
}

const look = async ({ time, ask }: DatabaseTimeInput): Promise<void> => {
  const asked = performance.now();
  try {
    time.noteDatabaseTime(await ask(), performance.now() - asked);
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
  }
};

export class DatabaseTimeWatch {
  readonly #input: DatabaseTimeInput;
  readonly #timer: NodeJS.Timeout;
  #underWay = Promise.resolve();

  private constructor(input: DatabaseTimeInput) {
    this.#input = input;
    this.#timer = setInterval(() => void (this.#underWay = look(this.#input)), clockCheckMs).unref();
  }

  /** Asks the database once before it returns, and then again every ten seconds. A failed request is repeated with the next check. */
  static async open(input: DatabaseTimeInput): Promise<DatabaseTimeWatch> {
    await look(input);
    return new DatabaseTimeWatch(input);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
  }
}

// Watches the free space on the disk of the data folder, and warns before it is full.

/** The pause between two checks of the disk. Filling a tenth of a 100 GB disk at 100 MB/s needs more time. In milliseconds. */
const diskCheckMs = 60_000;

export interface DiskWatchInput {
  readonly folder: string;
  /** The share of free space below which the watch warns, in percent. 0: the watch never warns. */
  readonly leastFree: number;
  readonly log: Log;
  /** Measures the free space and the size of the disk of a folder, in bytes. */
  readonly measure?: (folder: string) => Promise<{ readonly free: number; readonly size: number }>;
}

const measureDisk = async (folder: string) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
};

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

export class DiskWatch implements Disk {
  readonly #input: DiskWatchInput;
  readonly #timer: NodeJS.Timeout;
  #disk = { free: 0, size: 0 };
  #isLow = false;

  constructor(input: DiskWatchInput) {
    this.#input = input;
    this.#timer = setInterval(() => void this.look(), diskCheckMs).unref();
  }

  get freeBytes(): number {
    return this.#disk.free;
  }

  get sizeBytes(): number {
    return this.#disk.size;
  }

  get warning(): string {
    if (!this.#isLow) return '';
    const { free, size } = this.#disk;
    return `the disk of the data folder is nearly full: ${gigabytes(free)} of ${gigabytes(size)} GB are free`;
  }

  /** Checks the disk once. Never rejects. */
  async look(): Promise<void> {
    const { folder, leastFree, log, measure = measureDisk } = this.#input;
    try {
      this.#disk = await measure(folder);
    } catch {
      // The next check measures again. If the folder cannot be read, other parts report errors.
      return;
    }
    const { free, size } = this.#disk;
    const wasLow = this.#isLow;
    this.#isLow = size > 0 && free < (size * leastFree) / 100;
    if (this.#isLow && !wasLow) log.warn({ freeBytes: free, sizeBytes: size }, 'disk.low');
    if (!this.#isLow && wasLow) log.info({ freeBytes: free, sizeBytes: size }, 'disk.hasRoom');
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
