/** The outcomes of the last attempts at one receiver, for reports. The outcomes decide nothing, because the circuit controls sending. */
import type { ReceiverReport } from '../views/inspector.ts';
import type { Delivery, LastAttempt } from '../model.ts';
import type { Attempt } from '../ports.ts';

/** Attempts that the success rate covers. */
const counted = 100;
/** Limit of the waiting rows whose last failure is kept in memory. */
const keptRows = 1_000;
/** Failures in a row after which the receiver counts as failing, and the operator is alerted. One or two failures are normal during a restart. */
const failing = 3;

export class ReceiverHealth {
  readonly #outcomes: boolean[] = [];
  #failures = 0;
  #lastError: ReceiverReport['lastError'] = null;
  /** Last failures by event, oldest first. */
  readonly #waiting = new Map<string, LastAttempt>();

  /** Takes the outcome of an attempt. */
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

  /** Returns the last failure of a row that waits, or undefined if it is unknown. */
  lastAttempt(eventId: string): LastAttempt | undefined {
    return this.#waiting.get(eventId);
  }
}
