/** Lanes whose first row is parked. Their later rows stay in the outbox until the first row is delivered or given up. */
export class HeldLanes {
  #names = new Set<string>();
  /** Lanes whose row is being parked by a statement under way. */
  readonly #parking = new Set<string>();
  /** Lanes that were held since the request of the current page. The page may show such lanes as not held. */
  #fresh = new Set<string>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  has(lane: string): boolean {
    return this.#names.has(lane);
  }

  /** True if the current page may not know that the lane is held. */
  isFresh(lane: string): boolean {
    return this.#fresh.has(lane);
  }

  add(lane: string): void {
    this.#names.add(lane);
    this.#fresh.add(lane);
  }

  /** Holds the lane from now on. A page whose read begins before `task` ends may show the lane as not held. */
  async whileParking(lane: string, task: () => Promise<void>): Promise<void> {
    this.add(lane);
    this.#parking.add(lane);
    await task().finally(() => this.#parking.delete(lane));
  }

  beginRead(): void {
    this.#fresh = new Set(this.#parking);
  }

  /** Replaces the names by the lanes that the outbox holds. */
  endRead(names: readonly string[]): void {
    this.#names = new Set([...names, ...this.#fresh]);
  }
}
