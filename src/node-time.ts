/**
 * The clock of a node: that of its machine, corrected where the database's says something else. What one node stores is compared by others: a retry that
 * is due in a second must not wait for an hour because the node that stored it was an hour ahead.
 */
import type { Log, Time } from '#actors/ports.ts';

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
