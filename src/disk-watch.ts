/** Watches the room on the disk of the data folder, and warns before it is full. */
import { statfs } from 'node:fs/promises';
import type { Disk, Log } from '#actors/ports.ts';

/** In milliseconds. A disk of 100 GB that takes 100 MB/s needs longer for a tenth of it. */
const everyMs = 60_000;

export interface DiskWatchInput {
  readonly folder: string;
  /** Percent of the disk below which it warns; 0: never. */
  readonly leastFree: number;
  readonly log: Log;
  /** Free and all bytes of the disk of a folder. */
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
    this.#timer = setInterval(() => void this.look(), everyMs).unref();
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

  /** Looks now. Never rejects. */
  async look(): Promise<void> {
    const { folder, leastFree, log, measure = measureDisk } = this.#input;
    try {
      this.#disk = await measure(folder);
    } catch {
      // The next look tells; a folder that cannot be read has other signs.
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
