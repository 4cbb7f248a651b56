/** The outcomes of the last attempts at one receiver, for those who look at it. The circuit decides what is sent; nothing is decided here. */
import type { ReceiverReport } from '../face/inspector.ts';
import type { Delivery, LastAttempt } from '../model.ts';
import type { Attempt } from '../ports.ts';

/** Attempts behind the rate of success. */
const counted = 100;
/** Rows whose last failure is kept while they wait in memory. */
const keptRows = 1_000;
/** Failures in a row after which a person is asked to look. One or two are the retries of a restart. */
const failing = 3;

export class ReceiverHealth {
  readonly #outcomes: boolean[] = [];
  #failures = 0;
  #lastError: ReceiverReport['lastError'] = null;
  /** By event, the oldest first. */
  readonly #waiting = new Map<string, LastAttempt>();

  /** An attempt ended. */
  judge({ eventId, attempts }: Delivery, outcome: Attempt, now: number): void {
    this.#outcomes.push(outcome.ok);
    if (this.#outcomes.length > counted) this.#outcomes.shift();
    this.#failures = outcome.ok ? 0 : this.#failures + 1;
    this.#waiting.delete(eventId);
    if (outcome.ok) return;
    const { status = 0, error } = outcome;
    this.#lastError = { at: now, status, error };
    this.#waiting.set(eventId, { attempts: attempts + 1, status, error });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > keptRows && oldest !== undefined) this.#waiting.delete(oldest);
  }

  get isFailing(): boolean {
    return this.#failures >= failing;
  }

  get report(): ReceiverReport {
    const delivered = this.#outcomes.filter(Boolean).length;
    return { isFailing: this.isFailing, delivered, attempts: this.#outcomes.length, lastError: this.#lastError };
  }

  /** The last failure of a row that waits; undefined when it is not known. */
  lastAttempt(eventId: string): LastAttempt | undefined {
    return this.#waiting.get(eventId);
  }
}
