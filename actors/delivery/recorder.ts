/**
 * Writes the entries of an instance to the journal in order and in batches, and retries while the database is unavailable.
 *
 * All entries of one turn of the event loop form one batch, because a batch costs hardly more than a single entry. A busy recorder waits a few
 * milliseconds more for each batch, unless a caller waits for an entry. Uncommitted entries survive a crash of the worker. The restarted worker commits
 * these entries.
 *
 * The history that a phone sends takes seconds to store. Steps of a send overtake the history, because no step depends on the history.
 */
import type { Entry } from '../model.ts';
import {
  EpochLost,
  StorageBroken,
  StorageFailure,
  StorageSlow,
  StorageUnavailable,
  type Committed,
  type Log,
  type Meter,
  type Time,
} from '../ports.ts';
import { SlowEntry } from './slow-entry.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Pause } from '../waiting.ts';

export interface RecorderInput {
  readonly instance: string;
  readonly time: Time;
  readonly log: Log;
  readonly meter: Pick<Meter, 'unstored'>;
  readonly workers: Pick<SupervisedWorkers, 'supervise'>;
  readonly limits: { readonly maxWait: number; readonly maxBatch: number };
  /** `again`: see `Journal.commit`. */
  commit(entries: readonly Entry[], again: boolean): Promise<Committed>;
  /**
   * Keeps an entry that storage refuses for its content. Rejects with `StorageFailure` if the call should be retried. Any other rejection means that
   * the entry cannot be kept.
   */
  keep(entry: Entry, error: Error): Promise<void>;
  /** Takes the result of each commit. `again` is true if stored rows may exist that no earlier call reported, because a former commit or call failed. */
  committed(committed: Committed, again: boolean): void;
}

interface Item {
  readonly entry: Entry;
  /** Sequence number of the item. */
  readonly number: number;
  /** The number of messages or confirmations in the entry. */
  readonly size: number;
  /** True if a caller waits for the entry. If the database is unavailable, the caller gets an error at once, and the entry is not stored later. */
  readonly urgent: boolean;
  /** Called with the error of the first attempt, or with null if the entry was committed. Further calls have no effect. */
  readonly settle: ((error: Error | null, committed?: Committed) => void) | null;
}

/** Kinds of entries that are steps of a send. */
const stepsOfSends: ReadonlySet<Entry['kind']> = new Set(['queued', 'composed', 'sendKey', 'status']);
/**
 * Returns true if the item may be committed before parts of the history that were taken earlier. Receipts never overtake, because a receipt may belong to a
 * message of the history. No caller waits for a receipt, so `settle` is null.
 */
const overtakes = ({ entry, settle }: Item): boolean => settle !== null && stepsOfSends.has(entry.kind);
const isPast = ({ entry }: Item): boolean => entry.kind === 'history';

/** Returns the number of items in an entry. A part of the history or a receipt is one event and is never split. */
const sizeOf = (entry: Entry): number => {
  if (entry.kind === 'history') return entry.past.items.length;
  return entry.kind === 'status' ? entry.messageIds.length : 1;
};

/** Returns true if the entry may be dropped while `droppableLimit` or more entries wait. Messages are never dropped. */
const droppable = (entry: Entry): boolean =>
  (entry.kind === 'news' && entry.news.type === 'presence') || (entry.kind === 'event' && entry.type === 'presence');
const droppableLimit = 1000;
const retryMs = 500;
const nothing: Committed = { events: [], deliveries: [] };

const stopped = (): Error => new StorageUnavailable('the instance is stopped');
/** Returns the error code of the database, or the name of the error. The message is left out, because it may quote a value. */
export const refusalNameOf = (error: unknown): string => {
  const { code, name } = asError(error) as Error & { readonly code?: unknown };
  return typeof code === 'string' ? code : name;
};
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export class Recorder {
  readonly #input: RecorderInput;
  readonly #worker: SupervisedWorker;
  /** The worker that makes the listeners search the outbox for rows that no call reported. The worker runs after a listener threw. */
  readonly #announcer: SupervisedWorker;
  readonly #retryPause: Pause;
  readonly #gatherPause: Pause;
  #items: Item[] = [];
  /** The number of parts of the history among the items. */
  #past = 0;
  /** True if the last batch overtook the history. The next batch does not, so that the history also makes progress. */
  #overtook = false;
  /** Items that were taken from `#items` for the next commit, and are not committed yet. */
  #group: Item[] = [];
  /** True if a commit of the batch began. Its outcome is unknown after a crash. */
  #begun = false;
  /** True if an urgent entry left a batch whose commit failed. The database may have stored this entry nevertheless. */
  #isUnreported = false;
  #working = false;
  /** True if entries arrived during the last commit. */
  #busy = false;
  /** The error of the last commit while the database is unavailable. */
  #away: Error | null = null;
  readonly #slow = new SlowEntry();
  #drainedWaiters: (() => void)[] = [];
  #recordedWaiters: { readonly upTo: number; readonly resolve: (stored: boolean) => void }[] = [];
  /** The number of entries taken so far. */
  #taken = 0;
  /** True if entries were given up that storage did not refuse for their content. */
  #lost = false;

  constructor(input: RecorderInput) {
    this.#input = input;
    this.#retryPause = new Pause(input.time);
    this.#gatherPause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: 'recorder', run: () => this.#work() });
    this.#announcer = input.workers.supervise({ name: 'recorderListener', run: () => input.committed(nothing, true) });
  }

  /** Takes entries without waiting for them. Never throws. */
  record(entries: readonly Entry[]): void {
    if (this.#retryPause.ended) {
      this.#lost ||= entries.length > 0;
      return;
    }
    for (const entry of entries) {
      if (this.#items.length < droppableLimit || !droppable(entry)) this.#push(entry, false, null);
    }
    this.#worker.wake();
  }

  /**
   * Resolves when the entry is committed. Rejects if the entry is refused for its content. Rejects at once with `StorageFailure` if the database is
   * unavailable or busy. A rejected entry is not stored later.
   */
  append(entry: Entry): Promise<Committed> {
    if (this.#away) return Promise.reject(this.#away);
    if (this.#retryPause.ended) return Promise.reject(stopped());
    return new Promise((resolve, reject) => {
      this.#push(entry, true, (error, committed = nothing) => (error ? reject(error) : resolve(committed)));
      this.#worker.wake();
    });
  }

  /**
   * Takes an entry as `record` does. Resolves after the first attempt to commit the entry, with or without success, or at once while the database is
   * unavailable. Never rejects.
   */
  tell(entry: Entry): Promise<void> {
    return new Promise((resolve) => {
      if (this.#retryPause.ended) return resolve();
      this.#push(entry, false, () => resolve());
      if (this.#away) resolve();
      this.#worker.wake();
    });
  }

  /** Resolves when all entries of earlier calls are committed, or refused for their content. Resolves with false if an entry was lost. */
  recorded(): Promise<boolean> {
    if (this.waiting === 0) return Promise.resolve(!this.#lost);
    return new Promise((resolve) => this.#recordedWaiters.push({ upTo: this.#taken, resolve }));
  }

  /** Resolves when no entry waits. */
  drained(): Promise<void> {
    return this.waiting > 0 ? new Promise((resolve) => this.#drainedWaiters.push(resolve)) : Promise.resolve();
  }

  /** Ends the retries. Entries that still wait are lost, and their number is logged. */
  stop(): void {
    this.#retryPause.end();
    this.#gatherPause.end();
    // A crashed worker does not restart after a stop. Its entries are therefore counted as lost here.
    if (!this.#working && this.waiting > 0) this.#loseAll();
  }

  /** True if the database failed the last commit. The recorder retries. */
  get away(): boolean {
    return this.#away !== null;
  }

  /** The reason why entries wait although the database answers; '' if there is no fault. The readiness check shows this reason. */
  get trouble(): string {
    if (this.#away === null || this.waiting === 0) return '';
    if (this.#away instanceof StorageBroken) return this.#away.message;
    return this.#slow.isStuck ? 'the database takes too long for an entry of a session' : '';
  }

  /** The number of entries that are not committed. */
  get waiting(): number {
    return this.#items.length + this.#group.length;
  }

  #push(entry: Entry, urgent: boolean, settle: Item['settle']): void {
    let size: number;
    try {
      size = sizeOf(entry);
    } catch (error) {
      return this.#refuse(entry, asError(error), settle);
    }
    this.#taken += 1;
    this.#items.push({ entry, number: this.#taken, size, urgent, settle });
    if (entry.kind === 'history') this.#past += 1;
    if (settle !== null) this.#gatherPause.cut();
  }

  /** Commits until no entry waits. After a crash the next run finds the uncommitted entries in `#group` and `#items`. */
  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.waiting > 0) {
        if (this.#group.length === 0) await this.#takeGroup();
        await this.#commitGroup();
        await this.#gather();
      }
      this.#away = null;
    } finally {
      this.#working = false;
      if (this.waiting > 0 && this.#retryPause.ended) this.#loseAll();
    }
  }

  async #takeGroup(): Promise<void> {
    await this.#input.time.turn();
    this.#group = this.#overtaking();
    this.#overtook = this.#group.length > 0;
    if (this.#overtook) this.#items = this.#items.filter((item) => !this.#group.includes(item));
    else this.#group = this.#items.splice(0, Math.max(1, this.#fitting()));
    this.#past -= this.#group.filter(isPast).length;
    this.#begun = false;
  }

  /** Returns the items that overtake the history. The list is empty if no part of the history waits. */
  #overtaking(): Item[] {
    return this.#past === 0 || this.#overtook ? [] : this.#items.filter(overtakes).slice(0, this.#input.limits.maxBatch);
  }

  /** Waits for more entries if the recorder is busy, unless the next batch is full or a caller waits. */
  async #gather(): Promise<void> {
    const { maxWait } = this.#input.limits;
    const awaited = this.#isFull() || this.#items.some(({ settle }) => settle !== null);
    if (this.#items.length > 0 && this.#busy && !awaited && maxWait > 0) await this.#gatherPause.wait(maxWait);
  }

  /** Returns how many entries at the head of `#items` form a batch of at most `maxBatch` items (`sizeOf`). */
  #fitting(): number {
    let room = this.#input.limits.maxBatch;
    const over = this.#items.findIndex(({ size }) => (room -= size) < 0);
    return over < 0 ? this.#items.length : over;
  }

  /** Returns true if waiting would not make the next batch larger. */
  #isFull(): boolean {
    return this.#fitting() < this.#items.length || this.#items.length >= this.#input.limits.maxBatch;
  }

  /** Retries until the batch is committed. If storage refuses the batch, it is committed entry by entry, so that a bad entry affects no other entry. */
  async #commitGroup(): Promise<void> {
    let together = true;
    while (this.#group.length > 0) {
      const items = together ? this.#group : this.#group.slice(0, 1);
      const again = this.#begun;
      this.#begun = true;
      let committed: Committed;
      try {
        committed = await this.#input.commit(
          items.map(({ entry }) => entry),
          again,
        );
      } catch (error) {
        const cause = asError(error);
        // A batch that took too long is committed entry by entry.
        if (cause instanceof StorageSlow && items.length > 1) together = false;
        if (cause instanceof StorageSlow && items[0] && items.length === 1) await this.#outlastSlow(items[0], cause);
        else if (cause instanceof StorageFailure) await this.#outlast(cause);
        else if (cause instanceof EpochLost) this.#loseAll(cause);
        else if (items.length > 1) together = this.#begun = false;
        else await this.#refuseFirst(cause);
        continue;
      }
      this.#finish(items.length, committed, again);
    }
  }

  #finish(count: number, committed: Committed, again: boolean): void {
    this.#away = null;
    this.#slow.over();
    const done = this.#group.splice(0, count);
    // The commit without an answer may also have stored the entries that are left.
    this.#begun = again && this.#group.length > 0;
    this.#busy = this.#items.length > 0;
    const isUnreported = this.#isUnreported;
    this.#isUnreported = false;
    this.#announce(committed, again || isUnreported);
    for (const { settle } of done) settle?.(null, committed);
    this.#reach();
  }

  /** Calls the listener. The batch is already stored, so an exception of the listener changes nothing. */
  #announce(committed: Committed, again: boolean): void {
    try {
      this.#input.committed(committed, again);
    } catch (error) {
      this.#announcer.crashed(error);
    }
  }

  /** Retries a single entry that takes too long, with growing pauses. The entry is set aside when the database stores the next entry. */
  async #outlastSlow({ number }: Item, cause: Error): Promise<void> {
    this.#slow.note(number);
    if (this.#slow.isHopeless) return this.#refuseFirst(cause);
    // The second entry is tried directly after the first. It therefore seldom overtakes the first entry if the database recovers.
    if (this.#slow.wantsProof) await this.#storeSecond();
    await this.#outlast(cause, this.#slow.pause);
  }

  /** Commits the second waiting entry, to find out if the database stores entries at all. */
  async #storeSecond(): Promise<void> {
    if (this.#group.length === 1) {
      const taken = this.#items.splice(0, 1);
      this.#past -= taken.filter(isPast).length;
      this.#group.push(...taken);
    }
    const second = this.#group[1];
    if (second === undefined) return;
    const committed = await this.#input.commit([second.entry], true).catch(() => null);
    if (committed === null) return;
    this.#group.splice(1, 1);
    this.#slow.otherStored();
    this.#announce(committed, true);
    second.settle?.(null, committed);
  }

  /** Fails the entries of waiting callers at once, because the database is unavailable. All other entries are retried after a pause. */
  async #outlast(error: Error, pause = retryMs): Promise<void> {
    this.#away = error;
    for (const { settle } of [...this.#group, ...this.#items]) settle?.(error);
    this.#isUnreported ||= this.#group.some(({ urgent }) => urgent);
    this.#group = this.#group.filter(({ urgent }) => !urgent);
    this.#items = this.#items.filter(({ urgent }) => !urgent);
    if (this.#group.length > 0) await this.#retryPause.wait(pause);
    if (this.#retryPause.ended && this.waiting > 0) this.#loseAll();
    else this.#reach();
  }

  /** Gives up all waiting entries. This process will not store these entries. */
  #loseAll(error?: Error): void {
    const items = [...this.#group.splice(0), ...this.#items.splice(0)];
    this.#past = 0;
    this.#begun = false;
    this.#lost = true;
    this.#input.log.error({ instance: this.#input.instance, entries: items.length, ...(error ? { error } : {}) }, 'entries.lost');
    this.#input.meter.unstored('lost', items.length);
    for (const { settle } of items) settle?.(error ?? stopped());
    this.#reach();
  }

  /** Sets the first entry aside for the operator. An entry of a waiting caller is not set aside, because the caller gets the error. */
  async #refuseFirst(cause: Error): Promise<void> {
    const first = this.#group[0];
    if (first && !first.urgent) {
      const failure = await this.#input.keep(first.entry, cause).then(() => null, asError);
      if (failure instanceof StorageFailure) return this.#outlast(failure);
      if (failure instanceof EpochLost) return this.#loseAll(failure);
      if (failure !== null) this.#notKept(failure);
    }
    this.#group.splice(0, 1);
    this.#begun = false;
    this.#away = null;
    this.#slow.over();
    if (first) this.#refuse(first.entry, cause, first.settle);
    this.#reach();
  }

  #notKept(error: Error): void {
    this.#input.log.error({ instance: this.#input.instance, entries: 1, error }, 'entries.lost');
    this.#input.meter.unstored('lost', 1);
  }

  #refuse({ kind }: Entry, error: Error, settle: Item['settle']): void {
    this.#input.log.error({ instance: this.#input.instance, kind, error }, 'entry.refused');
    this.#input.meter.unstored('refused', 1);
    settle?.(error);
  }

  /** Resolves the waiters whose entries, and all earlier entries, no longer wait. */
  #reach(): void {
    const next = Math.min(this.#group[0]?.number ?? Infinity, this.#items[0]?.number ?? Infinity);
    while (this.#recordedWaiters[0] !== undefined && this.#recordedWaiters[0].upTo < next)
      this.#recordedWaiters.shift()?.resolve(!this.#lost);
    if (this.waiting === 0) for (const resolve of this.#drainedWaiters.splice(0)) resolve();
  }
}
