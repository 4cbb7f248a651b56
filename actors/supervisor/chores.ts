/** Background work on the stored data of all instances. The chores remove rows and files that are too old, exceed a limit, or have no owner. */
import { PeriodicWorker } from '../policy/periodic-worker.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { ClockWatch } from './clock-watch.ts';
import { expiry, type Perishable } from './expiry.ts';
import { FileKeeper } from './file-keeper.ts';
import { RowRemover } from './row-remover.ts';

export interface ChoresInput {
  readonly clock: ClockWatch;
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  /** Null if this process is not part of a cluster. */
  readonly cluster: {
    /** True if this node does the work that one node does for the cluster. */
    readonly onDuty: boolean;
    readonly sharesFiles: boolean;
  } | null;
}

/** Pause between two checks for removals that other nodes began. In milliseconds. */
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
  const { sendKeys, recipients, pictures, chatwootRows } = ports;
  const lookupAge = Math.max(policy.lookups.knownFor, policy.lookups.absentFor);
  return [
    { name: 'sendKeys', age: policy.sendKeyAge, expire: (before, limit) => sendKeys.expire(before, limit) },
    { name: 'lookups', age: lookupAge, expire: (before, limit) => recipients.expire(before, limit) },
    { name: 'pictures', age: policy.pictures.age, expire: (before, limit) => pictures.expire(before, limit) },
    { name: 'chatwoot', age: policy.chatwoot.keep, expire: (before, limit) => chatwootRows.expire(before, limit) },
    ...retained(ports, policy),
  ];
};

export class Chores {
  readonly #workers: readonly { start(): void; stop(): void }[];
  readonly #remover: RowRemover;

  constructor({ ports, policy, workers, cluster, clock }: ChoresInput) {
    const onDuty = (): boolean => cluster?.onDuty ?? true;
    // Each node cleans its own folder if the nodes do not share their files.
    const keepsFiles = (): boolean => onDuty() || cluster?.sharesFiles === false;
    const { time, log } = ports;
    this.#remover = new RowRemover({ ...ports, workers, onDuty });
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
