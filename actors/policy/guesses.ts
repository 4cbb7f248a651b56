/** Limits guesses by name with one token bucket a name. A try is taken before the guess is checked, so that a burst gets no more tries than the limit. */
import { type Bucket, fullBucket, type Pace, takeToken } from './pacing.ts';

/** The number of names that are remembered, the latest ones. Each takes about 100 bytes. */
const remembered = 20_000;

export class Guesses {
  readonly #pace: Pace;
  readonly #buckets = new Map<string, Bucket>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Takes a try. Returns 0, or the milliseconds until the next try is allowed. */
  take(name: string, now: number): number {
    const { bucket, wait } = takeToken(this.#buckets.get(name) ?? fullBucket(this.#pace, now), this.#pace, now);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > remembered && oldest !== undefined) this.#buckets.delete(oldest);
    return wait;
  }

  /** Gives a try back, because the guess was right or could not be checked. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) this.#buckets.set(name, { ...bucket, tokens: Math.min(this.#pace.burst, bucket.tokens + 1) });
  }
}
