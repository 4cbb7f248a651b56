/**
 * A share of a pool for each instance. Connections go to whoever asks first, so without a share the slow questions of one client hold up those of all
 * others. What an instance asks beyond its share waits for its own questions only.
 */
import { StorageBusy } from '#actors/ports.ts';
import type { Database } from './database.ts';

export interface Share {
  /** Statements of one instance at once. */
  readonly atOnce: number;
  /** Statements of one instance that wait. */
  readonly waiting: number;
  /** Milliseconds of a wait. */
  readonly waitMs: number;
}

/** The queries of one instance. */
interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

const busy = (name: string): StorageBusy => new StorageBusy(`the instance asks too much at once: ${name}`);

/** Statements whose first value is no text are of no instance, and have no share. */
const instanceOf = ([first]: readonly unknown[]): string | null => (typeof first === 'string' ? first : null);

export const fairShare = (database: Database, { atOnce, waiting, waitMs }: Share): Database => {
  const lanes = new Map<string, Lane>();

  /** Resolves when the lane has a place, which the caller takes. */
  const placeIn = ({ waiting: others }: Lane, name: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        others.delete(go);
        reject(busy(name));
      }, waitMs);
      const go = (): void => {
        clearTimeout(timer);
        others.delete(go);
        resolve();
      };
      others.add(go);
    });

  const enter = async (instance: string, name: string): Promise<Lane> => {
    const lane = lanes.get(instance) ?? { running: 0, waiting: new Set() };
    lanes.set(instance, lane);
    if (lane.running >= atOnce) {
      if (lane.waiting.size >= waiting) throw busy(name);
      // A query that ends hands over its place, so the number of running queries stays the same.
      await placeIn(lane, name);
    } else lane.running += 1;
    return lane;
  };

  const leave = (instance: string, lane: Lane): void => {
    const [next] = lane.waiting;
    if (next !== undefined) return next();
    lane.running -= 1;
    if (lane.running === 0) lanes.delete(instance);
  };

  return {
    ...database,
    async rows(statement, values) {
      const instance = instanceOf(values);
      if (instance === null) return database.rows(statement, values);
      const lane = await enter(instance, statement.name);
      try {
        return await database.rows(statement, values);
      } finally {
        leave(instance, lane);
      }
    },
  };
};
