/** Limits the fetches of files that clients name: in total, for one instance, and in the queue of one instance. */
import { type BoundedTask, MediaFailure, Slots } from './bounded-work.ts';

/**
 * The number of concurrent fetches, in total and for one instance. A slow web server can keep a fetch open for a minute. A fetch can occupy 512 KB of memory,
 * and MEDIA_MAX_BYTES on the disk.
 */
export const fetchesAtOnce = 32;
const fetchesPerInstance = 4;
/** The number of waiting fetches of one instance. A usual fetch takes a second, so the last one begins before its client gives up after a minute. */
const mostWaiting = 100;

const busy = (message: string): MediaFailure => new MediaFailure('limited', message, { retryAfter: 30 });

/** Returns the refusal of a fetch that waited too long for a slot. */
export const waitedTooLong = (): MediaFailure => busy('the file could not be fetched: too many files are being fetched');

export class Fetches {
  readonly #slots = new Slots(fetchesAtOnce, { perKey: fetchesPerInstance });
  readonly #isDiskFull: () => boolean;

  /** `isDiskFull` returns true if the disk has no room for files of clients. */
  constructor(isDiskFull: () => boolean) {
    this.#isDiskFull = isDiskFull;
  }

  /** Takes a file when a slot is free for the instance. A file in the request itself needs no slot. */
  async run<T>(source: string, instance: string, task: BoundedTask, take: (source: string) => Promise<T>): Promise<T> {
    if (this.#isDiskFull()) throw new MediaFailure('unavailable', 'the disk of the server is nearly full');
    if (!/^https?:/i.test(source)) return take(source);
    if (this.#slots.waiting(instance) >= mostWaiting) throw busy(`${mostWaiting} files of this instance wait to be fetched`);
    return task.run(this.#slots, () => take(source));
  }
}
