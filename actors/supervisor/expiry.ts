/** Removes rows that are too old, of all instances: now and then, piece after piece, so that no statement grows with the table. */
import type { ClockWatch } from './clock-watch.ts';
import { PeriodicWorker } from '../periodic-worker.ts';
import type { Log, Time } from '../ports.ts';
import type { SupervisedWorkers } from '../supervised-workers.ts';
import type { Pause } from '../waiting.ts';

/** Milliseconds between two looks, and between two pieces, which leave the database to the others. */
const everyMs = 600_000;
const restMs = 20;
/** Rows of one piece. */
const pieceRows = 1_000;

/** What grows old. */
export interface Perishable {
  readonly name: string;
  /** Milliseconds that a row is kept. */
  readonly age: number;
  /** Removes what is from before this time (Unix milliseconds), at most `limit` rows. Answers how many; without `more`, fewer than `limit` are the last ones. */
  expire(before: number, limit: number): Promise<number | { readonly removed: number; readonly more: boolean }>;
}

export interface ExpiryInput {
  readonly perishables: readonly Perishable[];
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** Whether this process does the work that one of several does for all. */
  onDuty?(): boolean;
  readonly clock: Pick<ClockWatch, 'trouble' | 'note'>;
}

export const expiry = ({ perishables, time, log, workers, clock, onDuty = () => true }: ExpiryInput): PeriodicWorker => {
  const expire = async ({ name, age, expire }: Perishable, pause: Pause): Promise<void> => {
    const before = time.now() - age;
    let rows = 0;
    for (let isMore = true; isMore && !pause.ended;) {
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
