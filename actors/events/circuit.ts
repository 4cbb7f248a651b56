/**
 * How much a receiver that fails is still asked: fewer lanes with every failure, then one probe at a time with growing pauses between. One circuit
 * serves all couriers of a webhook. An attempt is named by the number of its delivery.
 */
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';

export class Circuit {
  readonly #policy: DeliveryPolicy;
  #failures = 0;
  #until = 0;
  /** The attempt that probes while the circuit is open. */
  #probe: number | null = null;
  #recoveries = 0;

  constructor(policy: DeliveryPolicy) {
    this.#policy = policy;
  }

  /** In a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts how often the circuit closed again. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** True if one probe at a time is let through, or nothing. */
  get isOpen(): boolean {
    return this.#failures >= this.#policy.circuit.failures;
  }

  /** Nothing is sent before this moment of the monotonic clock. */
  get until(): number {
    return this.#until;
  }

  /** Lanes that may be under way. A receiver that does not answer soon holds one place of those that all share, not a whole row of them. */
  get lanes(): number {
    return this.isOpen ? 1 : Math.max(1, this.#policy.concurrency >> this.#failures);
  }

  /** Whether an attempt may begin; who was admitted is judged or forgoes it. */
  admit(attempt: number): boolean {
    if (!this.isOpen) return true;
    if (this.#probe !== null) return false;
    this.#probe = attempt;
    return true;
  }

  /** The attempt was not made, or nobody knows what came of it. */
  forgo(attempt: number): void {
    if (this.#probe === attempt) this.#probe = null;
  }

  judge(attempt: number, outcome: Attempt, now: number): void {
    this.forgo(attempt);
    if (outcome.ok) return this.reset();
    if (this.#until > now) return; // it was under way when the pause began: no probe
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
