/**
 * Writes an instance's entries to the journal: in order, in groups, and again while the database is away.
 *
 * A group costs hardly more than a single entry, so all entries of one turn of the event loop are one group. A busy recorder waits a few
 * milliseconds more for each group (micro-batches), unless somebody waits for an entry. What is not committed yet survives a crash of the
 * worker, which commits it after its restart.
 *
 * The past that a phone hands over takes seconds. The steps of a send do not wait for it: they touch nothing of it.
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
import type { SupervisedWorker, SupervisedWorkers } from '../supervised-workers.ts';
import { Pause } from '../waiting.ts';

export interface RecorderInput {
  readonly instance: string;
  readonly time: Time;
  readonly log: Log;
  readonly meter: Pick<Meter, 'unstored'>;
  readonly workers: Pick<SupervisedWorkers, 'supervise'>;
  readonly limits: { readonly maxWait: number; readonly maxBatch: number };
  commit(entries: readonly Entry[]): Promise<Committed>;
  /** Keeps an entry that storage refuses for what it is. Rejects with `StorageFailure` when it should be tried again, and otherwise when it cannot be kept. */
  keep(entry: Entry, error: Error): Promise<void>;
  /** Called after each commit. `again`: rows may be stored that no call has named, because a commit or a call before this one failed. */
  committed(committed: Committed, again: boolean): void;
}

interface Item {
  readonly entry: Entry;
  /** Counts the items taken. */
  readonly number: number;
  /** Messages or confirmations in it. */
  readonly size: number;
  /** A caller waits for it, and gets an error at once when the database is away; it is not stored later then. */
  readonly urgent: boolean;
  /** Called with the outcome of the first try, null when it was committed; further calls change nothing. */
  readonly settle: ((error: Error | null) => void) | null;
}

/** Steps of sends, by the kind of their entries. */
const stepsOfSends: ReadonlySet<Entry['kind']> = new Set(['queued', 'composed', 'sendKey', 'status']);
/** May be committed before parts of the past that were taken earlier. A receipt that nobody waits for may be about a message of them. */
const overtakes = ({ entry, settle }: Item): boolean => settle !== null && stepsOfSends.has(entry.kind);
const isPast = ({ entry }: Item): boolean => entry.kind === 'history';

/** A part of the history and a receipt are one event each, so they are never split; they count as what they hold. */
const sizeOf = (entry: Entry): number => {
  if (entry.kind === 'history') return entry.past.items.length;
  return entry.kind === 'status' ? entry.messageIds.length : 1;
};

/** Entries that may be dropped when the database is away for long; messages never are. */
const droppable = (entry: Entry): boolean =>
  (entry.kind === 'news' && entry.news.type === 'presence') || (entry.kind === 'event' && entry.type === 'presence');
const droppableLimit = 1000;
const retryMs = 500;
const nothing: Committed = { events: [], deliveries: [] };

const stopped = (): Error => new StorageUnavailable('the instance is stopped');
/** Names the error of a refusal without its message, which may quote a value: the code of the database, or the name of the error. */
export const refusalNameOf = (error: unknown): string => {
  const { code, name } = asError(error) as Error & { readonly code?: unknown };
  return typeof code === 'string' ? code : name;
};
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export class Recorder {
  readonly #input: RecorderInput;
  readonly #worker: SupervisedWorker;
  /** After a listener threw: tells the listeners again to look for rows that nobody named. */
  readonly #announcer: SupervisedWorker;
  readonly #retryPause: Pause;
  readonly #gatherPause: Pause;
  #items: Item[] = [];
  /** Parts of the past among the items. */
  #past = 0;
  /** The last group went before its turn: the next one does not, so that the past gets on too. */
  #overtook = false;
  /** Taken from the head of `#items` to be committed next, and not committed yet. */
  #group: Item[] = [];
  /** A commit of the group was begun; whether it was done is not known. */
  #begun = false;
  #working = false;
  /** Entries came while the last group was committed. */
  #busy = false;
  /** The error of the last commit when the database is away. */
  #away: Error | null = null;
  readonly #slow = new SlowEntry();
  #drainedWaiters: (() => void)[] = [];
  #recordedWaiters: { readonly upTo: number; readonly resolve: (stored: boolean) => void }[] = [];
  /** Entries taken so far. */
  #taken = 0;
  /** Entries were given up that storage did not refuse for what they are. */
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
   * Resolves when the entry is committed. Rejects when it never will be: bad data, or (`StorageFailure`, at once) a database that is away or busy; then
   * the entry is not stored later.
   */
  append(entry: Entry): Promise<void> {
    if (this.#away) return Promise.reject(this.#away);
    if (this.#retryPause.ended) return Promise.reject(stopped());
    return new Promise((resolve, reject) => {
      this.#push(entry, true, (error) => (error ? reject(error) : resolve()));
      this.#worker.wake();
    });
  }

  /** Takes an entry as `record` does. Resolves after the first try to commit it, whatever the outcome. Never rejects. */
  tell(entry: Entry): Promise<void> {
    return new Promise((resolve) => {
      if (this.#retryPause.ended) return resolve();
      this.#push(entry, false, () => resolve());
      if (this.#away) resolve();
      this.#worker.wake();
    });
  }

  /** Resolves when everything that was taken before is committed (or refused for what it is); false when something was lost. */
  recorded(): Promise<boolean> {
    if (this.waiting === 0) return Promise.resolve(!this.#lost);
    return new Promise((resolve) => this.#recordedWaiters.push({ upTo: this.#taken, resolve }));
  }

  /** Resolves when nothing waits. */
  drained(): Promise<void> {
    return this.waiting > 0 ? new Promise((resolve) => this.#drainedWaiters.push(resolve)) : Promise.resolve();
  }

  /** The database is not tried again. What still waits is lost, and its number is logged. */
  stop(): void {
    this.#retryPause.end();
    this.#gatherPause.end();
    // A worker that crashed is not restarted any more.
    if (!this.#working && this.waiting > 0) this.#loseAll();
  }

  /** The database did not take the last commit; it is tried again. */
  get away(): boolean {
    return this.#away !== null;
  }

  /** Why the entries wait although the database answers, for readiness; '' when nothing is wrong with it. */
  get trouble(): string {
    if (this.#away === null || this.waiting === 0) return '';
    if (this.#away instanceof StorageBroken) return this.#away.message;
    return this.#slow.isStuck ? 'the database takes too long for an entry of a session' : '';
  }

  /** Entries that are not committed. */
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

  /** Commits until nothing waits. A crash leaves what is not committed in `#group` and `#items`, for the next run. */
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

  /** What goes before its turn; nothing while no part of the past waits. */
  #overtaking(): Item[] {
    return this.#past === 0 || this.#overtook ? [] : this.#items.filter(overtakes).slice(0, this.#input.limits.maxBatch);
  }

  /** A busy recorder waits for more entries, unless the next group is full or somebody waits for an entry of it. */
  async #gather(): Promise<void> {
    const { maxWait } = this.#input.limits;
    const awaited = this.#isFull() || this.#items.some(({ settle }) => settle !== null);
    if (this.#items.length > 0 && this.#busy && !awaited && maxWait > 0) await this.#gatherPause.wait(maxWait);
  }

  /** How many entries at the head of the line make a group of at most `maxBatch` items. */
  #fitting(): number {
    let room = this.#input.limits.maxBatch;
    const over = this.#items.findIndex(({ size }) => (room -= size) < 0);
    return over < 0 ? this.#items.length : over;
  }

  /** Gathering more would not make the next group larger. */
  #isFull(): boolean {
    return this.#fitting() < this.#items.length || this.#items.length >= this.#input.limits.maxBatch;
  }

  /** Tries until the group is committed. A group that storage refuses is committed entry by entry, so that one bad entry costs only itself. */
  async #commitGroup(): Promise<void> {
    let together = true;
    while (this.#group.length > 0) {
      const items = together ? this.#group : this.#group.slice(0, 1);
      const again = this.#begun;
      this.#begun = true;
      let committed: Committed;
      try {
        committed = await this.#input.commit(items.map(({ entry }) => entry));
      } catch (error) {
        const cause = asError(error);
        // A group that took too long is committed entry by entry.
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
    this.#begun = false;
    this.#busy = this.#items.length > 0;
    this.#announce(committed, again);
    for (const { settle } of done) settle?.(null);
    this.#reach();
  }

  /** It is stored, so a listener that throws changes nothing of that. */
  #announce(committed: Committed, again: boolean): void {
    try {
      this.#input.committed(committed, again);
    } catch (error) {
      this.#announcer.crashed(error);
    }
  }

  /** One entry alone takes too long: it is tried again less and less often, and set aside when the database stores the entry behind it. */
  async #outlastSlow({ number }: Item, cause: Error): Promise<void> {
    this.#slow.note(number);
    if (this.#slow.isHopeless) return this.#refuseFirst(cause);
    // At once, so that the second entry seldom overtakes the first when the database gets well.
    if (this.#slow.wantsProof) await this.#storeSecond();
    await this.#outlast(cause, this.#slow.pause);
  }

  /** Commits the entry behind the first one, to learn whether the database stores anything. */
  async #storeSecond(): Promise<void> {
    if (this.#group.length === 1) {
      const taken = this.#items.splice(0, 1);
      this.#past -= taken.filter(isPast).length;
      this.#group.push(...taken);
    }
    const second = this.#group[1];
    if (second === undefined) return;
    const committed = await this.#input.commit([second.entry]).catch(() => null);
    if (committed === null) return;
    this.#group.splice(1, 1);
    this.#slow.otherStored();
    this.#announce(committed, true);
    second.settle?.(null);
  }

  /** The database is away: callers get the error at once, and entries that no caller waits for are tried again after a pause. */
  async #outlast(error: Error, pause = retryMs): Promise<void> {
    this.#away = error;
    for (const { settle } of [...this.#group, ...this.#items]) settle?.(error);
    this.#group = this.#group.filter(({ urgent }) => !urgent);
    this.#items = this.#items.filter(({ urgent }) => !urgent);
    if (this.#group.length > 0) await this.#retryPause.wait(pause);
    if (this.#retryPause.ended && this.waiting > 0) this.#loseAll();
    else this.#reach();
  }

  /** Nothing of what waits will be stored by this process. */
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

  /** The first entry is kept where a person sees it. One that a caller waits for is not: the caller has the error. */
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

  /** Tells those who wait for entries that neither they nor any before them wait any more. */
  #reach(): void {
    const next = Math.min(this.#group[0]?.number ?? Infinity, this.#items[0]?.number ?? Infinity);
    while (this.#recordedWaiters[0] !== undefined && this.#recordedWaiters[0].upTo < next)
      this.#recordedWaiters.shift()?.resolve(!this.#lost);
    if (this.waiting === 0) for (const resolve of this.#drainedWaiters.splice(0)) resolve();
  }
}
