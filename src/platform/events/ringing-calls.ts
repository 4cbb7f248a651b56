/** Calls that ring on this connection, until they are taken, refused or given up. */
import type { WACallEvent } from '@whiskeysockets/baileys';
import type { BaileysEvent } from './baileys-event.ts';

export interface RingingCall {
  readonly id: string;
  /** Every id under which the platform named the caller, or the group of the call. */
  readonly people: readonly string[];
  /** The offer. */
  readonly event: WACallEvent;
}

/** Calls that are remembered, more than ever ring at once; the oldest are forgotten first. */
const most = 100;
const ends: ReadonlySet<WACallEvent['status']> = new Set(['accept', 'reject', 'timeout', 'terminate']);
/** Milliseconds after which a call counts as ended when the platform reported no end: phones ring for a minute. */
const longest = 120_000;

export class RingingCalls {
  readonly #calls = new Map<string, RingingCall>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  learn(event: BaileysEvent): void {
    if (event.name !== 'call') return;
    for (const call of event.data) {
      if (ends.has(call.status)) this.end(call.id);
      if (call.status === 'offer' && !call.offline) this.#ring(call);
    }
  }

  /** The newest one that fits; null when none does. */
  find(fits: (call: RingingCall) => boolean): RingingCall | null {
    return [...this.#calls.values()].findLast((call) => this.#now() - call.event.date.getTime() < longest && fits(call)) ?? null;
  }

  end(id: string): void {
    this.#calls.delete(id);
  }

  #ring(event: WACallEvent): void {
    const people = [event.from, event.chatId, event.callerPn, event.groupJid].filter((one) => one !== undefined && one !== '');
    this.#calls.set(event.id, { id: event.id, people: people as string[], event });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > most && oldest !== undefined) this.#calls.delete(oldest);
  }
}
