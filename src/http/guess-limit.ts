/**
 * Limits wrong codes and tokens by the network that they come from. A try is taken before anything is looked up, and given back for what was right:
 * otherwise each of many requests at once would find the limit free.
 */

const windowMs = 60_000;
/** Networks that are remembered, the latest ones: some 100 bytes each. */
const remembered = 20_000;

interface Tries {
  taken: number;
  /** On the monotonic clock, in milliseconds. */
  readonly until: number;
}

export class GuessLimit {
  readonly #most: number;
  readonly #networks = new Map<string, Tries>();

  /** `most`: wrong guesses of one network within a minute, together with those that are being looked up. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a try. Returns null, or the seconds until there is another one. */
  take(network: string, now: number): number | null {
    const known = this.#networks.get(network);
    const tries = known !== undefined && known.until > now ? known : this.#begin(network, now);
    if (tries.taken >= this.#most) return Math.ceil((tries.until - now) / 1000);
    tries.taken += 1;
    return null;
  }

  /** The guess was right, or could not be looked up. */
  giveBack(network: string): void {
    const tries = this.#networks.get(network);
    if (tries !== undefined && tries.taken > 0) tries.taken -= 1;
  }

  #begin(network: string, now: number): Tries {
    const tries = { taken: 0, until: now + windowMs };
    this.#networks.delete(network);
    this.#networks.set(network, tries);
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > remembered && oldest !== undefined) this.#networks.delete(oldest);
    return tries;
  }
}
