/**
 * The cache of a node for all instances: records, tokens, webhooks and the admin token. The cache follows the database by polling the versions of
 * changes. The data of owned instances changes on this node only, and is not overwritten.
 */
import type { InstanceId, InstanceRecord, Webhook } from '../model.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Change, ChangeLook, ChangeStore, InstanceStore, Log, Time, WebhookStore } from '../ports.ts';

export interface MemoryInput {
  readonly changes: ChangeStore;
  readonly instances: Pick<InstanceStore, 'some'>;
  readonly webhooks: Pick<WebhookStore, 'some'>;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** Pause between two looks. In milliseconds. */
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
 * Looks between two comparisons. A row that is removed completely has no version, so only a comparison finds it. A comparison counts the rows, and
 * reads their ids if the counts differ. Equal counts may hide a removed row and one that this node does not know yet, so every twentieth comparison
 * reads the ids in any case.
 */
const looksPerComparison = 60;
const looksPerFullComparison = 20 * looksPerComparison;

const keyOf = ({ kind, id }: Pick<Change, 'kind' | 'id'>): string => `${kind} ${id}`;

export class ClusterMemory {
  readonly #input: MemoryInput;
  readonly #worker: PeriodicWorker;
  /** The watermark. All changes up to this version are known to this node, and no transaction can commit another one. */
  #watermark = 0;
  #mark: Mark | null = null;
  /** The last version that a transaction had taken at the previous look. */
  #latest = 0;
  /** Versions above the watermark that are known to this node. */
  #seen: ReadonlyMap<string, number> = new Map();
  #looks = 0;
  /** The stored admin token at the last look that succeeded; undefined before the first one. */
  #admin: string | null | undefined;
  /** Callbacks that the next look calls at its end. */
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

  /** Reads the current versions. The caller calls this method before it loads everything, so that later changes are seen. */
  async begin(): Promise<void> {
    this.#note(await this.#input.changes.since(this.#watermark));
    this.#worker.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#worker.stop();
    for (const resolve of this.#waiting) resolve();
  }

  /** Resolves when a look that began after this call has ended, even if it failed. Callers use it for data that another node may have made a moment ago. */
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
    const look = await changes.since(this.#watermark);
    await this.#apply(look.changes.filter((change) => this.#seen.get(keyOf(change)) !== change.version));
    this.#note(look);
    if (look.admin !== this.#admin) await host.refreshAdmin();
    this.#admin = look.admin;
    await host.refreshSignIns();
    this.#looks += 1;
    if (this.#looks % looksPerComparison === 0) await this.#compare(this.#looks % looksPerFullComparison === 0);
  }

  /**
   * Moves the watermark. A transaction takes a version and may commit it after later ones. Versions that were taken before the previous look belong
   * to transactions below `next` of this look. When those transactions have ended, each of these versions is committed or never will be.
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

  /** Forgets rows that are not stored any more. With `always` the ids are read even if the counts are equal. */
  async #compare(always: boolean): Promise<void> {
    const { changes, host } = this.#input;
    // The known ids are read first, so that later additions do not count as missing.
    const known = { instance: [...host.instanceIds()], webhook: [...host.webhookIds()] };
    if (!always) {
      const counts = await changes.counts();
      if (counts.instances === known.instance.length && counts.webhooks === known.webhook.length) return;
    }
    const { instances, webhooks } = await changes.ids();
    const stored = { instance: new Set(instances), webhook: new Set(webhooks) };
    for (const kind of ['instance', 'webhook'] as const) for (const id of known[kind]) if (!stored[kind].has(id)) this.#forget(kind, id);
  }
}
