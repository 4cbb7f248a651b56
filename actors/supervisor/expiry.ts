/** Removes expired rows of all instances periodically, in batches. The cost of a statement does not grow with the table. */
import type { ClockWatch } from './clock-watch.ts';
import { PeriodicWorker } from '../policy/periodic-worker.ts';
import type { Log, Time } from '../ports.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Pause } from '../waiting.ts';

/** Pause between two runs, and between two batches, so that other queries get the database. In milliseconds. */
const everyMs = 600_000;
const restMs = 20;
/** Rows per batch. */
const pieceRows = 1_000;

/** A kind of rows that expire. */
export interface Perishable {
  readonly name: string;
  /** Retention period of a row. In milliseconds. */
  readonly age: number;
  /**
   * Removes at most `limit` rows from before this time (Unix milliseconds), and returns their number. Without `more`, a number below `limit` means
   * that no such row is left.
   */
  expire(before: number, limit: number): Promise<number | { readonly removed: number; readonly more: boolean }>;
}

export interface ExpiryInput {
  readonly perishables: readonly Perishable[];
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** True if this process does the work that one node does for the cluster. */
  onDuty?(): boolean;
  readonly clock: Pick<ClockWatch, 'trouble' | 'note'>;
}

export const expiry = ({ perishables, time, log, workers, clock, onDuty = () => true }: ExpiryInput): PeriodicWorker => {
  const expire = async ({ name, age, expire }: Perishable, pause: Pause): Promise<void> => {
    const before = time.now() - age;
    let rows = 0;
    // A clock that jumped while another table was worked on is in doubt for this one. A jump between two pieces does not change `before`.
    for (let isMore = clock.trouble === ''; isMore && !pause.ended;) {
      const piece = await expire(before, pieceRows);
      rows += typeof piece === 'number' ? piece : piece.removed;
      isMore = typeof piece === 'number' ? piece === pieceRows : piece.more;
      if (isMore) await pause.wait(restMs);
    }
    if (rows > 0) log.info({ name, rows }, 'rows.expired');
  };
  const run = async (pause: Pause): Promise<void> => {
    const reason = clock.trouble;
    if (reason !== '') return log.warn({ reason }, 'rows.notExpired');
    for (const perishable of perishables) await expire(perishable, pause);
    await clock.note();
  };
  return new PeriodicWorker({ time, log, workers, name: 'expiry', everyMs, unanswered: 'rows.notExpired', onDuty, run });
};
