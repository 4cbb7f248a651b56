/**
 * Returns memory to the system when the process is quiet. V8 keeps the pages of a burst (a start, many pairings, a flood) for the next burst. V8's memory
 * reducer never begins in a server that answers pings. With 200 restored sessions, 180 MB of such pages were empty. V8's memory saver mode lets the reducer
 * begin. The reducer marks objects in small steps, then compacts the heap in one pause.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** The pause between two checks. In milliseconds. */
const everyMs = 10_000;
/** The number of consecutive quiet checks of the event loop before the mode is set. A short pause between two bursts does not count. */
const quietLooks = 3;
/** The number of checks after which the mode ends. V8's memory reducer begins within 8 s and runs for a second or two. */
const modeLooks = 2;
/**
 * The largest share of time in which a quiet event loop is busy. Pings and timers of silent sessions stay below this share. Steady traffic exceeds this share.
 */
const quietShare = 0.25;
/**
 * The bounds of growth since the mode last ended. The mode is set only if the process has grown by more than this factor plus this number of bytes. After a
 * smaller growth the collection is not worth its pause.
 */
const worthShare = 1.25;
const worthBytes = 32 * 1024 * 1024;

export interface IdleMemoryInput {
  /** Returns the resident memory of the process, in bytes. */
  readonly rss?: () => number;
  /** Returns the share of time, from 0 to 1, in which the event loop was busy since the last call. */
  readonly busyShare?: () => number;
  readonly setMode?: (saves: boolean) => void;
}

const loopMeter = (): (() => number) => {
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
};

/** Sets or ends the mode. A version of V8 without this mode ignores the flag. */
const setV8Mode = (saves: boolean): void => setFlagsFromString(saves ? '--memory-saver-mode' : '--no-memory-saver-mode');

export class IdleMemory {
  readonly #rss: () => number;
  readonly #busyShare: () => number;
  readonly #setMode: (saves: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #quiet = 0;
  /** The number of checks since the mode was set; null while the mode is not set. */
  #saving: number | null = null;
  /** The resident memory of the process when the mode last ended. In bytes. */
  #floor = 0;

  constructor({ rss = process.memoryUsage.rss, busyShare = loopMeter(), setMode = setV8Mode }: IdleMemoryInput = {}) {
    [this.#rss, this.#busyShare, this.#setMode] = [rss, busyShare, setMode];
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  /** Checks the event loop once, and sets or ends the mode. */
  look(): void {
    const isQuiet = this.#busyShare() < quietShare;
    this.#quiet = isQuiet ? this.#quiet + 1 : 0;
    if (this.#saving !== null) {
      this.#saving += 1;
      if (!isQuiet || this.#saving >= modeLooks) this.#end();
    } else if (this.#quiet >= quietLooks && this.#rss() > this.#floor * worthShare + worthBytes) {
      this.#saving = 0;
      this.#setMode(true);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#saving !== null) this.#end();
  }

  #end(): void {
    this.#saving = null;
    this.#floor = this.#rss();
    this.#setMode(false);
  }
}
