/** Lanes whose first row is parked: their later rows stay in the outbox until that row is delivered or given up. */
export class HeldLanes {
  #names = new Set<string>();
  /** Lanes whose row is being parked by a statement under way. */
  readonly #parking = new Set<string>();
  /** Lanes that were held since the page that is read was asked for, which may show them as they were before. */
  #fresh = new Set<string>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  has(lane: string): boolean {
    return this.#names.has(lane);
  }

  /** True if the page that is read may not know that the lane is held. */
  isFresh(lane: string): boolean {
    return this.#fresh.has(lane);
  }

  add(lane: string): void {
    this.#names.add(lane);
    this.#fresh.add(lane);
  }

  /** Holds the lane from now on. The page of a read that begins before `task` ends may not know it. */
  async whileParking(lane: string, task: () => Promise<void>): Promise<void> {
    this.add(lane);
    this.#parking.add(lane);
    await task().finally(() => this.#parking.delete(lane));
  }

  beginRead(): void {
    this.#fresh = new Set(this.#parking);
  }

  /** `names`: the lanes that the outbox holds. */
  endRead(names: readonly string[]): void {
    this.#names = new Set([...names, ...this.#fresh]);
  }
}
