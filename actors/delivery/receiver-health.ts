/**
 * The health of a receiver. The couriers of all instances share its circuit breaker. After a failed attempt, `stepAfter` chooses between a retry and the
 * end of the delivery. `ReceiverHealth` counts the outcomes for reports.
 */
import type { Delivery, LastAttempt } from '../model.ts';
import { between, type DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';
import type { ReceiverReport } from '../views/inspector.ts';
import { lastOf } from './tries.ts';

// The outcomes of the last attempts at one receiver, for reports. They have no effect on sending, which the circuit controls.

/** The number of recent attempts that the success rate covers. */
const countedAttempts = 100;
/** The largest number of waiting rows whose last failure is kept in memory. */
const keptRows = 1_000;
/**
 * The number of consecutive failures after which the receiver counts as failing. The inspector then marks its instance as needing a person. One or two failures
 * are normal during a restart.
 */
const failingAfter = 3;

export class ReceiverHealth {
  readonly #outcomes: boolean[] = [];
  #failures = 0;
  #lastError: ReceiverReport['lastError'] = null;
  /** Last failures by event, oldest first. */
  readonly #waiting = new Map<string, LastAttempt>();

  /** Takes the outcome of an attempt. `row`: the row with this attempt in its count. */
  judge(row: Delivery, outcome: Attempt, now: number): void {
    const { eventId } = row;
    this.#outcomes.push(outcome.ok);
    if (this.#outcomes.length > countedAttempts) this.#outcomes.shift();
    this.#failures = outcome.ok ? 0 : this.#failures + 1;
    this.#waiting.delete(eventId);
    if (outcome.ok) return;
    const { status = 0, error } = outcome;
    this.#lastError = { at: now, status, error };
    this.#waiting.set(eventId, { ...lastOf(row), status, error });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > keptRows && oldest !== undefined) this.#waiting.delete(oldest);
  }

  get isFailing(): boolean {
    return this.#failures >= failingAfter;
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

/**
 * The circuit breaker of a webhook, which the couriers of all instances share. Each failure halves the number of lanes. After `circuit.failures` failures in a
 * row the circuit opens, and lets one probe at a time through, with growing pauses. An attempt is identified by the sequence number of its delivery.
 */
export class Circuit {
  readonly #policy: DeliveryPolicy;
  #failures = 0;
  #until = 0;
  /** The attempt that probes while the circuit is open (half-open). */
  #probe: number | null = null;
  #recoveries = 0;

  constructor(policy: DeliveryPolicy) {
    this.#policy = policy;
  }

  /** The number of failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The number of times that a success, or a change of the webhook, ended a series of failures. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** True if the circuit lets through at most one probe at a time. */
  get isOpen(): boolean {
    return this.#failures >= this.#policy.circuit.failures;
  }

  /** The time before which nothing is sent, by the monotonic clock. */
  get until(): number {
    return this.#until;
  }

  /** The number of lanes that may be under way. Each failure halves the number, so that a failing receiver uses few of the slots that all webhooks share. */
  get lanes(): number {
    return this.isOpen ? 1 : Math.max(1, this.#policy.concurrency >> this.#failures);
  }

  /** Returns true if the attempt may begin. The caller must then call `judge` or `forgo` for this attempt. */
  admit(attempt: number): boolean {
    if (!this.isOpen) return true;
    if (this.#probe !== null) return false;
    this.#probe = attempt;
    return true;
  }

  /** Releases an admitted attempt that was not made, or whose outcome is unknown. */
  forgo(attempt: number): void {
    if (this.#probe === attempt) this.#probe = null;
  }

  judge(attempt: number, outcome: Attempt, now: number): void {
    this.forgo(attempt);
    if (outcome.ok) return this.reset();
    if (this.#until > now) return; // The attempt began before the pause, so it is no probe.
    this.#failures += 1;
    const { failures, min, max } = this.#policy.circuit;
    const over = this.#failures - failures;
    const pause = over >= 0 ? Math.min(max, min * 2 ** Math.min(over, 20)) : 0;
    const asked = Math.min((outcome.retryAfter ?? 0) * 1000, this.#policy.retryAfterMax);
    this.#until = now + Math.max(pause, asked);
  }

  reset(): void {
    if (this.#failures > 0) this.#recoveries += 1;
    this.#failures = 0;
    this.#until = 0;
  }
}

// Decides the step after a failed attempt. The decision is a pure function over the retry schedule.

export type FailedAttempt = Attempt & { readonly ok: false };

export type NextStep =
  /** Retries after the delay. The lane waits for the row. */
  | { readonly kind: 'retry'; readonly delay: number }
  /** Postpones the row in the outbox. The lane is held until the row is delivered or given up. */
  | { readonly kind: 'park'; readonly delay: number }
  /** Ends the row as a dead letter. The row gets no further attempt. */
  | { readonly kind: 'giveUp' }
  /** Disables the webhook, because the receiver answered 410 (Gone). The deliveries of the webhook stay. */
  | { readonly kind: 'disable' };

/** Returns the next step. `attempts` includes the failed attempt. `random` in [0, 1) adds jitter. */
export function stepAfter(policy: DeliveryPolicy, attempts: number, outcome: FailedAttempt, random: number): NextStep {
  if (outcome.status === 410) return { kind: 'disable' };
  const { quick, slow, retryAfterMax } = policy;
  const isQuick = attempts < quick.length;
  const base = isQuick ? quick[attempts] : slow[attempts - quick.length];
  // `waits`: the event needs an earlier event of its lane. After the quick attempts, the earlier event is considered lost. The row is then given up, so that
  // the row does not hold its lane.
  if (base === undefined || (outcome.waits && !isQuick)) return { kind: 'giveUp' };
  const asked = Math.min((outcome.retryAfter ?? 0) * 1000, retryAfterMax);
  const delay = Math.max(asked, (outcome.laneAfter ?? 0) * 1000, between(base * 0.8, base * 1.2, random));
  return { kind: isQuick ? 'retry' : 'park', delay };
}

/** Returns the longest time for which a row is parked. In milliseconds. */
export const longestParking = ({ slow, retryAfterMax }: Pick<DeliveryPolicy, 'slow' | 'retryAfterMax'>): number =>
  Math.max(retryAfterMax, ...slow.map((base) => base * 1.2));
