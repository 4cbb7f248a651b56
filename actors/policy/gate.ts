/**
 * Admits handshakes in FIFO order, within limits for concurrency and rate.
 *
 * When many sessions fail for one common reason (an outdated client, an outage), a barrier stops all handshakes. One canary instance then tries with
 * a growing back-off. The success of the canary removes the barrier.
 */
import { backOff } from './pacing.ts';
import type { Time } from '../ports.ts';

export interface Gate {
  /**
   * Resolves when the instance may start its handshake. An abort removes the instance from the queue and rejects. `isDoubtful`: true if the last
   * failure of the instance was a failure of its proxy.
   */
  admit(id: string, signal: AbortSignal, isDoubtful?: boolean): Promise<void>;
  /** Releases the handshake slot of this instance after any outcome. Idempotent. */
  release(id: string): void;
  /** Reports that the instance is logged in. Removes the barrier and releases the slot. */
  passed(id: string): void;
  /** Raises the barrier. `id` is the failed instance. While the barrier is up, only a failure of the canary counts, and lengthens the back-off. */
  raise(reason: string, id: string): void;
  readonly waiting: number;
  /** The reason of the barrier; '' if there is no barrier. */
  readonly barrier: string;
}

export interface GateLimits {
  readonly atOnce: number;
  readonly perSecond: number;
  /** The back-off between the attempts of a canary. In milliseconds. */
  readonly pause?: { readonly min: number; readonly max: number };
}

/**
 * The largest number of doubtful instances inside the gate while other instances wait. A proxy that does not answer occupies a slot until its time-out. The
 * sessions of one such proxy must not take all slots. If there are several slots, doubtful instances therefore leave one free.
 */
const mostDoubtful = 2;

const usualPause = { min: 5_000, max: 300_000 };

interface Ticket {
  readonly id: string;
  readonly isDoubtful: boolean;
  readonly enter: () => void;
}

interface Barrier {
  readonly reason: string;
  readonly tries: number;
  /** The earliest time of the next canary, by the monotonic clock. In milliseconds. */
  readonly until: number;
  /** The instance that tries to connect now; null if none does. */
  readonly canary: string | null;
}

class NodeGate implements Gate {
  readonly #limits: GateLimits;
  readonly #time: Time;
  readonly #random: () => number;
  readonly #line: Ticket[] = [];
  readonly #inside = new Set<string>();
  /** Doubtful instances inside the gate. */
  readonly #doubtful = new Set<string>();
  /** Times of the newest admissions by the monotonic clock, at most as many as one second allows. */
  readonly #entries: number[] = [];
  #barrier: Barrier | null = null;
  #timer: unknown = null;

  constructor(limits: GateLimits, time: Time, random: () => number) {
    this.#limits = limits;
    this.#time = time;
    this.#random = random;
  }

  admit(id: string, signal: AbortSignal, isDoubtful = false): Promise<void> {
    return new Promise((resolve, reject) => {
      const ticket: Ticket = { id, isDoubtful, enter: () => resolve() };
      const leave = (): void => {
        const at = this.#line.indexOf(ticket);
        if (at >= 0) this.#line.splice(at, 1);
        reject(signal.reason as Error);
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(ticket);
      this.#advance();
    });
  }

  release(id: string): void {
    // A canary may end without success or failure, if its session was stopped or waits for a person. Another instance then becomes the canary.
    const wasCanary = this.#barrier?.canary === id;
    if (this.#barrier && wasCanary) this.#barrier = { ...this.#barrier, canary: null };
    this.#doubtful.delete(id);
    if (this.#inside.delete(id) || wasCanary) this.#advance();
  }

  passed(id: string): void {
    this.#barrier = null;
    this.#inside.delete(id);
    this.#doubtful.delete(id);
    this.#advance();
  }

  raise(reason: string, id: string): void {
    if (this.#barrier && this.#barrier.canary !== id) return;
    const tries = (this.#barrier?.tries ?? -1) + 1;
    const until = this.#time.monotonic() + backOff(this.#limits.pause ?? usualPause, tries, this.#random());
    this.#barrier = { reason, tries, until, canary: null };
    this.#advance();
  }

  get waiting(): number {
    return this.#line.length;
  }

  get barrier(): string {
    return this.#barrier?.reason ?? '';
  }

  /** Returns the time until the next admission; null while the gate is full or a canary is connecting. In milliseconds. */
  #wait(): number | null {
    const { atOnce, perSecond } = this.#limits;
    const canary = this.#barrier?.canary ?? null;
    if (this.#inside.size >= atOnce || canary !== null) return null;
    const oldest = this.#entries.length < perSecond ? undefined : this.#entries[0];
    return Math.max((oldest ?? -1000) + 1000, this.#barrier?.until ?? 0) - this.#time.monotonic();
  }

  #advance(): void {
    if (this.#timer !== null) this.#time.clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#line.length > 0) {
      const ms = this.#wait();
      if (ms === null) return;
      if (ms > 0) {
        this.#timer = this.#time.setTimeout(() => this.#advance(), ms);
        return;
      }
      const [ticket] = this.#line.splice(this.#first(), 1);
      if (ticket === undefined) return;
      this.#enter(ticket);
    }
  }

  /** Returns the index in `#line` of the next instance to admit; the length of `#line` if none may enter. */
  #first(): number {
    const other = this.#line.findIndex(({ isDoubtful }) => !isDoubtful);
    const most = Math.max(1, Math.min(other < 0 ? Infinity : mostDoubtful, this.#limits.atOnce - 1));
    if (this.#doubtful.size < most) return 0;
    return other < 0 ? this.#line.length : other;
  }

  #enter(ticket: Ticket): void {
    this.#entries.push(this.#time.monotonic());
    if (this.#entries.length > this.#limits.perSecond) this.#entries.shift();
    this.#inside.add(ticket.id);
    if (ticket.isDoubtful) this.#doubtful.add(ticket.id);
    if (this.#barrier) this.#barrier = { ...this.#barrier, canary: ticket.id };
    ticket.enter();
  }
}

export const createGate = (limits: GateLimits, time: Time, random: () => number = () => 1): Gate => new NodeGate(limits, time, random);

export interface OutageRule {
  /** The period in which losses are counted together. In milliseconds. */
  readonly window: number;
  /** The smallest number of losses that counts as an outage. */
  readonly least: number;
}

/** Detects an outage from the losses of live sessions within the window of the rule. */
export class OutageWatch {
  readonly #rule: OutageRule;
  #losses: number[] = [];

  constructor(rule: OutageRule) {
    this.#rule = rule;
  }

  /**
   * Records the loss of one live session. `live`: the number of live sessions that remain. Returns true if at least `rule.least` sessions, and more
   * than half of all, were lost within the window.
   */
  lost(now: number, live: number): boolean {
    this.#losses = [...this.#losses.filter((time) => time > now - this.#rule.window), now];
    return this.#losses.length >= this.#rule.least && this.#losses.length > live;
  }
}
