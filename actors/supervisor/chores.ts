/**
 * Background work on the stored data of all instances. The chores remove rows and files that are too old, exceed a limit, or have no owner.
 */
import { PeriodicWorker, type SupervisedWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Policy } from '../policy/policy.ts';
import type { Log, Ports, Removal, RemovalStore, Time } from '../ports.ts';
import { Pause, untilStored } from '../waiting.ts';
import type { ClockWatch } from './clock-watch.ts';
import { figuresKeptMs } from '../views/operators.ts';
import { FileKeeper } from './files.ts';

// Removes expired rows of all instances periodically, in batches. The cost of a statement does not grow with the table.

/** The pause between two runs (`everyMs`), and between two batches (`restMs`). Other queries use the database meanwhile. In milliseconds. */
const everyMs = 600_000;
const restMs = 20;
/** The number of rows per batch. */
const pieceRows = 1_000;

/** A kind of rows that expire. */
interface Perishable {
  readonly name: string;
  /** Retention period of a row. In milliseconds. */
  readonly age: number;
  /**
   * Removes at most `limit` rows from before this time (Unix milliseconds), and returns their number. Without `more`, a number below `limit` means
   * that no such row is left.
   */
  expire(before: number, limit: number): Promise<number | { readonly removed: number; readonly more: boolean }>;
}

interface ExpiryInput {
  readonly perishables: readonly Perishable[];
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** Returns true if this process does the work that only one node of the cluster does. */
  onDuty?(): boolean;
  readonly clock: Pick<ClockWatch, 'trouble' | 'note'>;
}

export const expiry = ({ perishables, time, log, workers, clock, onDuty = () => true }: ExpiryInput): PeriodicWorker => {
  const expire = async ({ name, age, expire }: Perishable, pause: Pause): Promise<void> => {
    const before = time.now() - age;
    let rows = 0;
    // The clock is checked before each table, because it may have jumped while another table was cleaned. A jump between two batches does not change `before`.
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
    const failures: unknown[] = [];
    for (const perishable of perishables) {
      try {
        await expire(perishable, pause);
      } catch (error) {
        // A failure with one table must not prevent the removal of expired rows from the other tables.
        failures.push(error);
      }
    }
    await clock.note();
    if (failures.length > 0) throw failures[0];
  };
  return new PeriodicWorker({ time, log, workers, name: 'expiry', everyMs, unanswered: 'rows.notExpired', onDuty, run });
};

// Removes the rows of removed instances and webhooks in the background, in batches. After a crash or a stop, the next start resumes an
// interrupted removal.

/**
 * The time for which the row of a removed instance or webhook stays marked in a cluster. The other nodes learn of the removal from this mark, which every node
 * reads twice a second. In milliseconds.
 */
export const markedMs = 10_000;

interface RowRemoverInput {
  readonly removals: RemovalStore;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** The time for which rows stay marked before they are deleted. In milliseconds. */
  readonly markedMs: number;
  /** Returns true if this process does the work that only one node of the cluster does. */
  onDuty?(): boolean;
}

class RowRemover {
  readonly #input: RowRemoverInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;

  constructor(input: RowRemoverInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'remover', run: () => this.#run() });
  }

  /** Starts a run, because rows wait for removal, or may wait since an earlier run. */
  wake(): void {
    this.#worker.wake();
  }

  stop(): void {
    this.#worker.stop();
    this.#pause.end();
  }

  /** Tries every pending removal, even if one fails. The first failure then crashes the worker. */
  async #run(): Promise<void> {
    if (this.#input.onDuty?.() === false) return;
    const failures: unknown[] = [];
    const pending = await untilStored(this.#pause, () => this.#input.removals.pending());
    // Rows that are marked during this pause belong to the next run.
    if (pending.length > 0) await this.#pause.wait(this.#input.markedMs);
    for (const removal of pending) {
      try {
        await this.#remove(removal);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #remove(removal: Removal): Promise<void> {
    let pieces = 1;
    while (!this.#pause.ended && (await untilStored(this.#pause, () => this.#input.removals.removePiece(removal)))) {
      pieces += 1;
      await this.#pause.wait(restMs);
    }
    if (!this.#pause.ended) this.#input.log.info({ ...removal, pieces }, 'rows.removed');
  }
}

interface ChoresInput {
  readonly clock: ClockWatch;
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  /** Null if this process is not part of a cluster. */
  readonly cluster: {
    /** Returns true if this node does the work that only one node of the cluster does. */
    onDuty(): boolean;
    readonly sharesFiles: boolean;
  } | null;
}

/** The pause between two checks for removals that other nodes began. In milliseconds. */
const dutyMs = 30_000;

/** Stores with a retention period in the settings. A period of 0 means that nothing expires. */
const retained = (
  { messageExpiry, receiptExpiry, files, campaigns }: Ports,
  { retention, campaigns: { kept, pausedKept } }: Policy,
): readonly Perishable[] =>
  [
    { name: 'messages', age: retention.messages, expire: (before: number, limit: number) => messageExpiry.expire(before, limit) },
    { name: 'receipts', age: retention.receipts, expire: (before: number) => receiptExpiry.expire(before) },
    { name: 'campaigns', age: kept, expire: (before: number, limit: number) => campaigns.expire(before, limit) },
    { name: 'pausedCampaigns', age: pausedKept, expire: (before: number, limit: number) => campaigns.expirePaused(before, limit) },
    { name: 'files', age: retention.files, expire: (before: number, limit: number) => files.removeUnused(before, limit) },
  ].filter(({ age }) => age > 0);

const perishables = (ports: Ports, policy: Policy): readonly Perishable[] => {
  const { sendKeys, recipients, pictures, chatwootRows, auditLog, figureRows } = ports;
  const { age: auditAge, most } = policy.audit;
  const lookupAge = Math.max(policy.lookups.knownFor, policy.lookups.absentFor);
  return [
    { name: 'sendKeys', age: policy.sendKeyAge, expire: (before, limit) => sendKeys.expire(before, limit) },
    { name: 'lookups', age: lookupAge, expire: (before, limit) => recipients.expire(before, limit) },
    { name: 'pictures', age: policy.pictures.age, expire: (before, limit) => pictures.expire(before, limit) },
    { name: 'chatwoot', age: policy.chatwoot.keep, expire: (before, limit) => chatwootRows.expire(before, limit) },
    // Without an age, the number of entries is the only bound of the audit log.
    { name: 'audit', age: auditAge, expire: (before, limit) => auditLog.expire(auditAge === 0 ? 0 : before, most, limit) },
    { name: 'figures', age: figuresKeptMs, expire: (before, limit) => figureRows.expire(before, limit) },
    ...retained(ports, policy),
  ];
};

export class Chores {
  readonly #workers: readonly { start(): void; stop(): void }[];
  readonly #remover: RowRemover;

  constructor({ ports, policy, workers, cluster, clock }: ChoresInput) {
    const onDuty = (): boolean => cluster?.onDuty() ?? true;
    // Each node cleans its own folder if the nodes do not share their files.
    const keepsFiles = (): boolean => onDuty() || cluster?.sharesFiles === false;
    const { time, log } = ports;
    this.#remover = new RowRemover({ ...ports, workers, onDuty, markedMs: cluster ? markedMs : 0 });
    const wake = async (): Promise<void> => this.wakeRemover();
    this.#workers = [
      expiry({ ...ports, workers, onDuty, clock, perishables: perishables(ports, policy) }),
      new FileKeeper({ ...ports, most: policy.retention.fileBytes, workers, onDuty: keepsFiles }),
      ...(cluster
        ? [new PeriodicWorker({ time, log, workers, name: 'duty', everyMs: dutyMs, unanswered: 'duty.unanswered', run: wake })]
        : []),
    ];
  }

  start(): void {
    for (const worker of this.#workers) worker.start();
    this.wakeRemover();
  }

  /** Starts the removal of rows after an instance or a webhook was removed. */
  wakeRemover(): void {
    this.#remover.wake();
  }

  stop(): void {
    for (const worker of this.#workers) worker.stop();
    this.#remover.stop();
  }
}
