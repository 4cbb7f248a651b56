/** Limits wrong codes by the network that they come from. A code is short enough to be guessed by somebody with unlimited tries. */

/** Wrong codes of one network within a minute, together with the codes that are being looked up. */
const most = 20;
const windowMs = 60_000;
/** Networks that are remembered, the latest ones: some 100 bytes each. */
const remembered = 20_000;

interface Tries {
  taken: number;
  /** On the monotonic clock, in milliseconds. */
  readonly until: number;
}

export class GuessLimit {
  readonly #networks = new Map<string, Tries>();

  /** Takes a try. Returns null, or the seconds until there is another one. */
  take(network: string, now: number): number | null {
    const known = this.#networks.get(network);
    const tries = known !== undefined && known.until > now ? known : this.#begin(network, now);
    if (tries.taken >= most) return Math.ceil((tries.until - now) / 1000);
    tries.taken += 1;
    return null;
  }

  /** The code was right. */
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
