/**
 * The cache of a node for all instances: records, tokens, webhooks and the admin token. The cache follows the database by polling the versions of
 * changes. The data of owned instances changes on this node only, and is not overwritten.
 */
import type { InstanceId, InstanceRecord, Webhook } from '../model.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import { markedMs } from '../supervisor/chores.ts';
import type { Change, ChangeLook, ChangeStore, InstanceStore, Log, Time, WebhookStore } from '../ports.ts';

interface MemoryInput {
  readonly changes: ChangeStore;
  readonly instances: Pick<InstanceStore, 'some'>;
  readonly webhooks: Pick<WebhookStore, 'some'>;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** The pause between two reads of the changes. In milliseconds. */
  readonly every: number;
  readonly host: MemoryHost;
}

/** Reads and changes the cached data. */
export interface MemoryHost {
  /** Returns true if this node owns the instance. */
  owns(id: InstanceId): boolean;
  instanceIds(): Iterable<InstanceId>;
  webhookIds(): Iterable<string>;
  setInstance(record: InstanceRecord): void;
  forgetInstance(id: InstanceId): void;
  setWebhook(webhook: Webhook): void;
  forgetWebhook(id: string): void;
  /** Reads the admin token again, because the stored value changed. */
  refreshAdmin(): Promise<void>;
  /** Ends sign-ins on this node that another node ended, or that a new admin token made void. */
  refreshSignIns(): Promise<void>;
}

/** The next watermark. The watermark becomes valid when all transactions with a number below `next` have ended. */
interface Mark {
  readonly version: number;
  readonly next: number;
}

/**
 * The longest time between two reads of the changes after which no comparison of ids is needed. A removed row has a version only while it is marked, which is
 * for `markedMs`. A node that reads the changes in time therefore finds every removal. In milliseconds.
 */
const longestGapMs = markedMs / 2;
/** The largest number of reads between two comparisons. A comparison also finds rows that were deleted without a mark, such as by hand. */
const looksPerComparison = 1_200;

const keyOf = ({ kind, id }: Pick<Change, 'kind' | 'id'>): string => `${kind} ${id}`;

export class ClusterMemory {
  readonly #input: MemoryInput;
  readonly #worker: PeriodicWorker;
  /** The watermark. All changes up to this version are known to this node. No transaction can still commit such a version. */
  #watermark = 0;
  #mark: Mark | null = null;
  /** The highest version that a transaction had taken at the previous read. */
  #latest = 0;
  /** Versions above the watermark that are known to this node. */
  #seen: ReadonlyMap<string, number> = new Map();
  #looks = 0;
  /** The start of the last successful read, by both clocks. The monotonic clock may stop while the machine sleeps. */
  #lookedAt = { monotonic: 0, wall: 0 };
  /** The stored admin token at the last successful read; undefined before the first read. */
  #admin: string | null | undefined;
  /** Callbacks that the next read calls at its end. */
  #waiting: readonly (() => void)[] = [];
  #stopped = false;

  constructor(input: MemoryInput) {
    this.#input = input;
    const { time, log, workers, every: everyMs } = input;
    this.#worker = new PeriodicWorker({
      time,
      log,
      workers,
      name: 'memory',
      everyMs,
      unanswered: 'node.notRefreshed',
      run: () => this.#look(),
    });
  }

  /** Reads the current versions. The caller calls this method before it loads the data, so that later changes are seen. */
  async begin(): Promise<void> {
    this.#lookedAt = this.#now;
    this.#note(await this.#input.changes.since(this.#watermark));
    this.#worker.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#worker.stop();
    for (const resolve of this.#waiting) resolve();
  }

  /**
   * Resolves when a read of the changes that began after this call has ended, even if the read failed. Callers use it for data that another node may have
   * just created.
   */
  refreshed(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, resolve];
      this.#worker.wake();
    });
  }

  async #look(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      await this.#read();
    } finally {
      for (const resolve of waiting) resolve();
    }
  }

  async #read(): Promise<void> {
    const { changes, host } = this.#input;
    const began = this.#now;
    const look = await changes.since(this.#watermark);
    const isLate = this.#gap > longestGapMs;
    this.#looks += 1;
    await this.#apply(look.changes.filter((change) => this.#seen.get(keyOf(change)) !== change.version));
    if (isLate || this.#looks % looksPerComparison === 0) await this.#compare();
    this.#note(look);
    this.#lookedAt = began;
    if (look.admin !== this.#admin) await host.refreshAdmin();
    this.#admin = look.admin;
    await host.refreshSignIns();
  }

  get #now(): { readonly monotonic: number; readonly wall: number } {
    const { time } = this.#input;
    return { monotonic: time.monotonic(), wall: time.now() };
  }

  /** The time since the start of the last successful read of the changes. In milliseconds. */
  get #gap(): number {
    const { monotonic, wall } = this.#now;
    return Math.max(monotonic - this.#lookedAt.monotonic, wall - this.#lookedAt.wall);
  }

  /**
   * Moves the watermark. A transaction takes a version, and may commit it after later versions. Versions that were taken before the previous read belong to
   * transactions below `next` of this read. When those transactions have ended, each of these versions is committed or never will be.
   */
  #note({ changes, latest, oldest, next }: ChangeLook): void {
    const mark = this.#mark ?? { version: this.#latest, next };
    const isReached = mark.next <= oldest;
    if (isReached) this.#watermark = mark.version;
    this.#mark = isReached ? null : mark;
    this.#latest = latest;
    this.#seen = new Map(changes.filter(({ version }) => version > this.#watermark).map((change) => [keyOf(change), change.version]));
  }

  async #apply(fresh: readonly Change[]): Promise<void> {
    if (fresh.length === 0) return;
    const { instances, webhooks, host } = this.#input;
    const kept = (kind: Change['kind']): readonly string[] => fresh.filter((one) => one.kind === kind && !one.removed).map(({ id }) => id);
    const [records, hooks] = await Promise.all([instances.some(kept('instance')), webhooks.some(kept('webhook'))]);
    for (const record of records) if (!host.owns(record.id)) host.setInstance(record);
    for (const webhook of hooks) host.setWebhook(webhook);
    for (const { kind, id, removed } of fresh) if (removed) this.#forget(kind, id);
  }

  #forget(kind: Change['kind'], id: string): void {
    const { host } = this.#input;
    if (kind === 'webhook') host.forgetWebhook(id);
    else if (!host.owns(id)) host.forgetInstance(id);
  }

  /** Forgets rows that are not stored any more. */
  async #compare(): Promise<void> {
    const { changes, host } = this.#input;
    // The known ids are read first, so that later additions do not count as missing.
    const known = { instance: [...host.instanceIds()], webhook: [...host.webhookIds()] };
    const { instances, webhooks } = await changes.ids();
    const stored = { instance: new Set(instances), webhook: new Set(webhooks) };
    for (const kind of ['instance', 'webhook'] as const) for (const id of known[kind]) if (!stored[kind].has(id)) this.#forget(kind, id);
  }
}
