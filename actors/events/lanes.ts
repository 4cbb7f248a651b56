/** Deliveries in memory: one queue per lane, so that a chat keeps its order while chats go out side by side. */
import type { Delivery } from '../model.ts';

export interface Lanes {
  /** False when the row is known already. */
  add(row: Delivery): boolean;
  /** The head of a lane that has no row under way; the lane is taken until `finish`. */
  take(): Delivery | null;
  /** Frees the lane of the row; the row is gone. */
  finish(row: Delivery): void;
  /** Frees the lane of the row; the row, as it is now, stays its head. */
  putBack(row: Delivery): void;
  /** Drops what is not under way. */
  clear(): void;
  /** Rows held, those under way included. */
  readonly size: number;
  /** Of their bodies. */
  readonly bytes: number;
  readonly underWay: number;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Delivery[]>();
  /** Lanes with a head that waits for its turn, in the order in which they became ready. */
  const ready = new Set<string>();
  const known = new Set<number>();
  let bytes = 0;
  const forget = (row: Delivery): void => {
    if (known.delete(row.seq)) bytes -= row.body.length;
  };
  const busy = new Set<string>();

  return {
    add(row) {
      if (known.has(row.seq)) return false;
      known.add(row.seq);
      bytes += row.body.length;
      const lane = lanes.get(row.lane);
      if (lane) lane.push(row);
      else lanes.set(row.lane, [row]);
      if (!busy.has(row.lane)) ready.add(row.lane);
      return true;
    },
    take() {
      for (const name of ready) {
        ready.delete(name);
        const row = lanes.get(name)?.[0];
        if (!row) continue;
        busy.add(name);
        return row;
      }
      return null;
    },
    finish(row) {
      const lane = lanes.get(row.lane);
      if (lane?.[0]?.seq === row.seq) lane.shift();
      forget(row);
      busy.delete(row.lane);
      if (lane && lane.length > 0) ready.add(row.lane);
      else lanes.delete(row.lane);
    },
    putBack(row) {
      lanes.get(row.lane)?.splice(0, 1, row);
      busy.delete(row.lane);
      ready.add(row.lane);
    },
    clear() {
      for (const [name, lane] of lanes) {
        const kept = busy.has(name) ? lane.slice(0, 1) : [];
        for (const row of lane.slice(kept.length)) forget(row);
        if (kept.length > 0) lanes.set(name, kept);
        else lanes.delete(name);
      }
      ready.clear();
    },
    get size() {
      return known.size;
    },
    get bytes() {
      return bytes;
    },
    get underWay() {
      return busy.size;
    },
  };
}
