/** How much a receiver that fails is still asked: fewer lanes with every failure, then one probe at a time with growing pauses between. */
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';

export class Circuit {
  readonly #policy: DeliveryPolicy;
  #failures = 0;
  #until = 0;

  constructor(policy: DeliveryPolicy) {
    this.#policy = policy;
  }

  /** Nothing is sent before this moment. */
  get until(): number {
    return this.#until;
  }

  /** Lanes that may be under way. A receiver that does not answer soon holds one place of those that all share, not a whole row of them. */
  get lanes(): number {
    const { concurrency, circuit } = this.#policy;
    return this.#failures >= circuit.failures ? 1 : Math.max(1, concurrency >> this.#failures);
  }

  judge(outcome: Attempt, now: number): void {
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
    this.#failures = 0;
    this.#until = 0;
  }
}
