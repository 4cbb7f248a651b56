/** Simulated time, random numbers and log for tests. */
import type { Chance, Log, Time } from '#actors/ports.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** Runs all pending promises and the work that follows from them. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that advances only on request. */
export class FakeTime implements Time {
  /** The monotonic clock, which the timers use. */
  #now: number;
  /** The lead of the wall clock over the monotonic clock. In milliseconds. */
  #stepped = 0;
  #order = 0;
  readonly #timers = new Map<number, Timer>();

  constructor(start = Date.parse('2026-08-19T12:00:00Z')) {
    this.#now = start;
  }

  now(): number {
    return this.#now + this.#stepped;
  }

  monotonic(): number {
    return this.#now;
  }

  correction(): number {
    return 0;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const id = (this.#order += 1);
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), order: id, fn });
    return id;
  }

  clearTimeout(id: unknown): void {
    this.#timers.delete(id as number);
  }

  /** Resolves at once, since no other work runs in simulated time. */
  turn(): Promise<void> {
    return Promise.resolve();
  }

  /** Moves the wall clock by `ms` milliseconds, back if the number is negative. The monotonic clock and the timers do not change. */
  stepWall(ms: number): void {
    this.#stepped += ms;
  }

  /** Returns the number of armed timers. */
  get armed(): number {
    return this.#timers.size;
  }

  /** Returns the remaining time of each armed timer. In milliseconds. */
  get rings(): readonly number[] {
    return [...this.#timers.values()].map((timer) => timer.at - this.#now).sort((a, b) => a - b);
  }

  /** Advances the time by `ms` milliseconds. Each timer fires at its time, and its work ends before the next timer fires. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next.order);
      this.#now = Math.max(this.#now, next.at);
      next.fn();
      await settle();
    }
    this.#now = end;
  }

  #next(end: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers.values()) {
      if (timer.at <= end && (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))) first = timer;
    }
    return first;
  }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A generator of random values that gives the same values for the same seed. */
export class FakeChance implements Chance {
  #state: number;

  constructor(seed = 1) {
    this.#state = seed;
  }

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  hex(bytes: number): string {
    return Array.from({ length: bytes * 2 }, () => Math.floor(this.random() * 16).toString(16)).join('');
  }

  token(length: number): string {
    return Array.from({ length }, () => letters[Math.floor(this.random() * letters.length)]).join('');
  }
}

export interface LogLine {
  readonly level: keyof Log;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export class FakeLog implements Log {
  readonly lines: LogLine[] = [];

  debug = (fields: object, event: string): void => this.#add('debug', fields, event);
  info = (fields: object, event: string): void => this.#add('info', fields, event);
  warn = (fields: object, event: string): void => this.#add('warn', fields, event);
  error = (fields: object, event: string): void => this.#add('error', fields, event);

  of(event: string): readonly LogLine[] {
    return this.lines.filter((line) => line.event === event);
  }

  #add(level: keyof Log, fields: object, event: string): void {
    this.lines.push({ level, event, fields: fields as Record<string, unknown> });
  }
}
