/**
 * Gives memory back to the system when the process is quiet. V8 keeps the pages of a burst (a start, many pairings, a flood) for the next one, and
 * its own memory reducer never begins in a server that answers pings. With 200 restored sessions, 180 MB of such pages were empty. The mode that is
 * set here lets the reducer begin. The reducer marks objects in small steps, then compacts the heap in one pause.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** Milliseconds between two looks. */
const everyMs = 10_000;
/** Looks in a row that find the loop quiet before the mode is set, so that a short pause between two bursts does not count. */
const quietLooks = 3;
/** Looks for which the mode stays set. The reducer begins within 8 s and needs a second or two. */
const modeLooks = 2;
/** The largest share of time in which a quiet loop works. Pings and timers of silent sessions stay below it, and steady traffic does not. */
const quietShare = 0.25;
/** The pause pays if the process has grown by this share, and by these bytes, since the last time. */
const worthShare = 1.25;
const worthBytes = 32 * 1024 * 1024;

export interface IdleMemoryInput {
  /** Bytes that the process holds. */
  readonly rss?: () => number;
  /** The share of time, from 0 to 1, in which the loop worked since the last call. */
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

/** A V8 that does not know the mode ignores it. */
const setV8Mode = (saves: boolean): void => setFlagsFromString(saves ? '--memory-saver-mode' : '--no-memory-saver-mode');

export class IdleMemory {
  readonly #rss: () => number;
  readonly #busyShare: () => number;
  readonly #setMode: (saves: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #quiet = 0;
  /** Looks for which the mode has been set; null while it is not set. */
  #saving: number | null = null;
  /** Bytes that the process held after the last time. */
  #floor = 0;

  constructor({ rss = process.memoryUsage.rss, busyShare = loopMeter(), setMode = setV8Mode }: IdleMemoryInput = {}) {
    [this.#rss, this.#busyShare, this.#setMode] = [rss, busyShare, setMode];
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  /** Looks now, and sets or ends the mode. */
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
