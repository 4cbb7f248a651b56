/** Deliveries in memory, with one queue per lane. A chat keeps its order, while chats are posted concurrently. */
import type { Delivery } from '../model.ts';

export class Lanes {
  readonly #lanes = new Map<string, Delivery[]>();
  /** Lanes whose head can be taken, in the order in which the lanes became ready. */
  readonly #ready = new Set<string>();
  /** The sequence numbers of the rows in memory. */
  readonly #known = new Set<number>();
  /** Lanes with a row under way. */
  readonly #busy = new Set<string>();
  #bytes = 0;

  /** The number of rows in memory, including those under way. */
  get size(): number {
    return this.#known.size;
  }

  /** The sum of the sizes of the bodies. In bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get underWay(): number {
    return this.#busy.size;
  }

  /** Returns true if a row of the lane is in memory. */
  has(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  /** Adds a row. Returns false if the row is known already. */
  add(row: Delivery): boolean {
    if (this.#known.has(row.seq)) return false;
    this.#known.add(row.seq);
    this.#bytes += row.size;
    const lane = this.#lanes.get(row.lane);
    if (lane) lane.push(row);
    else this.#lanes.set(row.lane, [row]);
    if (!this.#busy.has(row.lane)) this.#ready.add(row.lane);
    return true;
  }

  /** Returns the head of a ready lane, or null. The lane is busy until `finish`, `putBack` or `drop`. */
  take(): Delivery | null {
    for (const name of this.#ready) {
      this.#ready.delete(name);
      const row = this.#lanes.get(name)?.[0];
      if (!row) continue;
      this.#busy.add(name);
      return row;
    }
    return null;
  }

  /** Removes the row and frees its lane. */
  finish(row: Delivery): void {
    const lane = this.#lanes.get(row.lane);
    if (lane?.[0]?.seq === row.seq) lane.shift();
    this.#forget(row);
    this.#busy.delete(row.lane);
    if (lane && lane.length > 0) this.#ready.add(row.lane);
    else this.#lanes.delete(row.lane);
  }

  /** Frees the lane, and replaces its head by the given version of the row. */
  putBack(row: Delivery): void {
    this.#lanes.get(row.lane)?.splice(0, 1, row);
    this.#busy.delete(row.lane);
    this.#ready.add(row.lane);
  }

  /** Frees the lane, and forgets the row and all later rows of the lane. */
  drop({ lane }: Delivery): void {
    for (const row of this.#lanes.get(lane) ?? []) this.#forget(row);
    this.#lanes.delete(lane);
    this.#busy.delete(lane);
    this.#ready.delete(lane);
  }

  /** Drops all rows except those under way. */
  clear(): void {
    for (const [name, lane] of this.#lanes) {
      const kept = this.#busy.has(name) ? lane.slice(0, 1) : [];
      for (const row of lane.slice(kept.length)) this.#forget(row);
      if (kept.length > 0) this.#lanes.set(name, kept);
      else this.#lanes.delete(name);
    }
    this.#ready.clear();
  }

  #forget(row: Delivery): void {
    if (this.#known.delete(row.seq)) this.#bytes -= row.size;
  }
}

/** Lanes whose first row is parked. Their later rows stay in the outbox until the first row is delivered or given up. */
export class HeldLanes {
  #names = new Set<string>();
  /** Lanes whose row is being parked by a statement under way. */
  readonly #parking = new Set<string>();
  /** Lanes that became held after the current page was requested. The page may show such lanes as not held. */
  #fresh = new Set<string>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  has(lane: string): boolean {
    return this.#names.has(lane);
  }

  /** Returns true if the current page may show the lane as not held. */
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

  /** Replaces the held lanes by the lanes that are held in the outbox. Lanes that became held during the read stay held. */
  endRead(names: readonly string[]): void {
    this.#names = new Set([...names, ...this.#fresh]);
  }
}
