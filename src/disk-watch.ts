/** Watches the room on the disk of the data folder, and warns before it is full. */
import { statfs } from 'node:fs/promises';
import type { Disk, Log } from '#actors/ports.ts';

/** In milliseconds. A disk of 100 GB that takes 100 MB/s needs longer for a tenth of it. */
const everyMs = 60_000;

export interface DiskWatch extends Disk {
  /** Looks now. Never rejects. */
  look(): Promise<void>;
  close(): Promise<void>;
}

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

export const watchDisk = ({ folder, leastFree, log, measure = measureDisk }: DiskWatchInput): DiskWatch => {
  let disk = { free: 0, size: 0 };
  let isLow = false;
  const look = async (): Promise<void> => {
    try {
      disk = await measure(folder);
    } catch {
      // The next look tells; a folder that cannot be read has other signs.
      return;
    }
    const wasLow = isLow;
    isLow = disk.size > 0 && disk.free < (disk.size * leastFree) / 100;
    if (isLow && !wasLow) log.warn({ freeBytes: disk.free, sizeBytes: disk.size }, 'disk.low');
    if (!isLow && wasLow) log.info({ freeBytes: disk.free, sizeBytes: disk.size }, 'disk.hasRoom');
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    get freeBytes() {
      return disk.free;
    },
    get sizeBytes() {
      return disk.size;
    },
    get warning() {
      if (!isLow) return '';
      return `the disk of the data folder is nearly full: ${gigabytes(disk.free)} of ${gigabytes(disk.size)} GB are free`;
    },
    look,
    close: async () => clearInterval(timer),
  };
};
