/**
 * Who may start a handshake: some at once, some a second, in the order in which they asked.
 *
 * When many sessions fail for one common reason (the client is too old, the network is gone) a barrier goes up: one instance tries, with a
 * growing pause between tries, and the others follow when it got through.
 */
import { backOff } from './back-off.ts';
import type { Time } from '../ports.ts';

export interface Gate {
  /** Resolves when the instance may start its handshake. An abort takes it out of the line (and rejects). */
  admit(id: string, signal: AbortSignal): Promise<void>;
  /** The handshake of this instance is over, however it ended. Idempotent. */
  release(id: string): void;
  /** The instance is logged in: a barrier comes down. */
  passed(id: string): void;
  /** Puts the barrier up; `id` is the instance that failed. While it is up only a failure of the canary counts, and makes the pause longer. */
  raise(reason: string, id: string): void;
  readonly waiting: number;
  /** Why the barrier is up, '' when it is not. */
  readonly barrier: string;
}

export interface GateLimits {
  readonly atOnce: number;
  readonly perSecond: number;
  /** Pauses between the tries of a canary, in milliseconds. */
  readonly pause?: { readonly min: number; readonly max: number };
}

const usualPause = { min: 5_000, max: 300_000 };

interface Ticket {
  readonly id: string;
  readonly enter: () => void;
}

interface Barrier {
  readonly reason: string;
  readonly tries: number;
  /** The next canary may not go before. */
  readonly until: number;
  /** The instance that tries now. */
  readonly canary: string | null;
}

class TurnGate implements Gate {
  readonly #limits: GateLimits;
  readonly #time: Time;
  readonly #random: () => number;
  readonly #line: Ticket[] = [];
  readonly #inside = new Set<string>();
  /** Moments of the newest entries, at most as many as one second allows. */
  readonly #entries: number[] = [];
  #barrier: Barrier | null = null;
  #timer: unknown = null;

  constructor(limits: GateLimits, time: Time, random: () => number) {
    this.#limits = limits;
    this.#time = time;
    this.#random = random;
  }

  admit(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const ticket: Ticket = { id, enter: () => resolve() };
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
    // A canary that neither passed nor failed (it was stopped, or it waits for a person) makes room for another.
    const wasCanary = this.#barrier?.canary === id;
    if (this.#barrier && wasCanary) this.#barrier = { ...this.#barrier, canary: null };
    if (this.#inside.delete(id) || wasCanary) this.#advance();
  }

  passed(id: string): void {
    this.#barrier = null;
    this.#inside.delete(id);
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

  /** Milliseconds until somebody may enter; null: not before something else happens. */
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
      const ticket = this.#line.shift();
      if (ticket) this.#enter(ticket);
    }
  }

  #enter(ticket: Ticket): void {
    this.#entries.push(this.#time.monotonic());
    if (this.#entries.length > this.#limits.perSecond) this.#entries.shift();
    this.#inside.add(ticket.id);
    if (this.#barrier) this.#barrier = { ...this.#barrier, canary: ticket.id };
    ticket.enter();
  }
}

export const createGate = (limits: GateLimits, time: Time, random: () => number = () => 1): Gate => new TurnGate(limits, time, random);

export interface OutageRule {
  /** Milliseconds in which losses belong together. */
  readonly window: number;
  /** Least number of losses that can be an outage. */
  readonly least: number;
}

/** Takes the loss of one live session; `live` sessions are left. True when more than half are gone within the window. */
export function createOutageWatch(rule: OutageRule): (now: number, live: number) => boolean {
  let losses: number[] = [];
  return (now, live) => {
    losses = [...losses.filter((time) => time > now - rule.window), now];
    return losses.length >= rule.least && losses.length > live;
  };
}
