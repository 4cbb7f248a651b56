/**
 * The circuit breaker of a webhook, which the couriers of all instances share. Each failure halves the lanes. Then the circuit opens, and lets one
 * probe at a time through, with growing pauses. An attempt is identified by the number of its delivery.
 */
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';

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

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Number of times that the circuit closed again. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** True if the circuit lets through at most one probe at a time. */
  get isOpen(): boolean {
    return this.#failures >= this.#policy.circuit.failures;
  }

  /** Time before which nothing is sent, by the monotonic clock. */
  get until(): number {
    return this.#until;
  }

  /** Number of lanes that may be under way. A slow receiver holds one of the slots that all webhooks share, and not many. */
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
    if (this.isOpen) this.#recoveries += 1;
    this.#failures = 0;
    this.#until = 0;
  }
}
