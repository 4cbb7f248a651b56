/**
 * The clock of a node: that of its machine, corrected where the database's says something else. What one node stores is compared by others:
 * a retry that is due in a second must not wait for an hour because the node that stored it was an hour ahead.
 */
import { type Log, StorageFailure, type Time } from '#actors/ports.ts';

export interface NodeTime extends Time {
  /** The database said what time it is, some time within the last `tripMs`. Unix milliseconds. */
  noteDatabaseTime(now: number, tripMs: number): void;
}

/** Machines with a time service differ by less, and keep their own clock. Milliseconds. */
const tolerated = 2_000;

export const nodeTime = (system: Time, log: Log): NodeTime => {
  let correction = 0;
  return {
    ...system,
    now: () => system.now() + correction,
    correction: () => correction,
    noteDatabaseTime(now, tripMs) {
      const difference = Math.round(now + tripMs / 2 - system.now());
      const most = tolerated + tripMs;
      const wanted = Math.abs(difference) <= most ? 0 : difference;
      if (wanted !== 0 && Math.abs(wanted - correction) <= most) return;
      if (wanted !== correction) log.warn({ behindMs: wanted }, 'node.clockCorrected');
      correction = wanted;
    },
  };
};

// Compares the clock of a gateway without other nodes with that of its database. Nodes hear the database's time with every renewal of their
// lease.

/** In milliseconds. */
const everyMs = 10_000;

export interface DatabaseTimeInput {
  readonly time: Pick<NodeTime, 'noteDatabaseTime'>;
  /** The database's clock, in Unix milliseconds. */
  ask(): Promise<number>;
}

/** Asks once before it answers. A database that is away is asked again later. */
export const followDatabaseTime = async ({ time, ask }: DatabaseTimeInput): Promise<{ close(): Promise<void> }> => {
  const look = async (): Promise<void> => {
    const asked = performance.now();
    try {
      time.noteDatabaseTime(await ask(), performance.now() - asked);
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
    }
  };
  await look();
  let underWay = Promise.resolve();
  const timer = setInterval(() => void (underWay = look()), everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await underWay;
    },
  };
};
