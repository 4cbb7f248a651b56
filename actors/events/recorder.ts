/**
 * What an instance's events pass through on their way to storage: in order, in groups, tried again while the database is away.
 *
 * A group costs hardly more than a single entry, so that everything of one turn of the event loop goes together. A busy recorder gathers for a few
 * milliseconds more, unless somebody waits for an entry.
 */
import type { Entry } from '../model.ts';
import { StorageUnavailable, type Committed, type Log, type Time } from '../ports.ts';
import { Pause } from '../waiting.ts';

export interface RecorderInput {
  readonly instance: string;
  readonly time: Time;
  readonly log: Log;
  readonly limits: { readonly maxWait: number; readonly maxBatch: number };
  commit(entries: readonly Entry[]): Promise<Committed>;
  /** `again`: the group was tried before, so that rows of it may be stored which `committed` does not name. */
  committed(committed: Committed, again: boolean): void;
}

interface Item {
  readonly entry: Entry;
  readonly number: number;
  /** Storage that is away takes it out of the line: its caller does not wait. */
  readonly urgent: boolean;
  /** Hears of the first outcome; later ones change nothing. */
  readonly settle: ((error: Error | null) => void) | null;
}

/** A batch of the past and a receipt are as many items as they hold; each is told as one event, so it stays in one piece. */
const itemsOf = ({ entry }: Item): number => {
  if (entry.kind === 'history') return entry.past.items.length;
  return entry.kind === 'status' ? entry.messageIds.length : 1;
};

/** Entries that may be dropped when the database is away for long; messages never are. */
const droppable = (entry: Entry): boolean =>
  (entry.kind === 'news' && entry.news.type === 'presence') || (entry.kind === 'event' && entry.type === 'presence');
const droppableLimit = 1000;
const retryMs = 500;

export class Recorder {
  readonly #input: RecorderInput;
  readonly #patience: Pause;
  readonly #gathering: Pause;
  #items: Item[] = [];
  #working = false;
  /** Entries came while the last group was committed. */
  #busy = false;
  /** What failed when storage was asked last, while there is something to ask again for. */
  #away: Error | null = null;
  #idle: (() => void)[] = [];
  /** Entries of the group that is being committed. */
  #inHand = 0;
  /** Entries taken so far. */
  #taken = 0;
  /** Entries were given up because storage stayed away. */
  #lost = false;
  #marks: { readonly upTo: number; readonly resolve: (stored: boolean) => void }[] = [];

  constructor(input: RecorderInput) {
    this.#input = input;
    this.#patience = new Pause(input.time);
    this.#gathering = new Pause(input.time);
  }

  /** Takes entries without waiting for them. Never throws. */
  record(entries: readonly Entry[]): void {
    if (this.#patience.ended) {
      this.#lost ||= entries.length > 0;
      return;
    }
    for (const entry of entries) {
      if (this.#items.length < droppableLimit || !droppable(entry)) this.#push(entry, false, null);
    }
    this.#start();
  }

  /**
   * Resolves when the entry is committed. Rejects when it never will be: bad data, or (`StorageUnavailable`, at once) storage that is away; it is
   * not stored later then.
   */
  append(entry: Entry): Promise<void> {
    if (this.#away) return Promise.reject(this.#away);
    return new Promise((resolve, reject) => {
      this.#push(entry, true, (error) => (error ? reject(error) : resolve()));
      this.#start();
    });
  }

  /** Takes an entry as `record` does; resolves when the first try to commit it is over, whatever it brought. Never rejects. */
  tell(entry: Entry): Promise<void> {
    return new Promise((resolve) => {
      if (this.#patience.ended) return resolve();
      this.#push(entry, false, () => resolve());
      if (this.#away) resolve();
      this.#start();
    });
  }

  /** Resolves when everything that was taken before is committed (or refused for what it is); false when something was lost. */
  recorded(): Promise<boolean> {
    if (!this.#working) return Promise.resolve(!this.#lost);
    return new Promise((resolve) => this.#marks.push({ upTo: this.#taken, resolve }));
  }

  /** Resolves when nothing waits. */
  drained(): Promise<void> {
    return this.#working ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  /** Storage is not tried again; what still waits is lost, and counted in the log. */
  stop(): void {
    this.#patience.end();
    this.#gathering.end();
  }

  get waiting(): number {
    return this.#items.length + this.#inHand;
  }

  #push(entry: Entry, urgent: boolean, settle: Item['settle']): void {
    this.#taken += 1;
    this.#items.push({ entry, number: this.#taken, urgent, settle });
    if (settle !== null) this.#gathering.cut();
  }

  /** Entries are committed in their order. */
  #reach(number: number): void {
    while (this.#marks[0] !== undefined && this.#marks[0].upTo <= number) this.#marks.shift()?.resolve(!this.#lost);
  }

  #start(): void {
    if (this.#working) return;
    this.#working = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    const { maxWait } = this.#input.limits;
    while (this.#items.length > 0) {
      await this.#input.time.turn();
      const group = this.#items.splice(0, Math.max(1, this.#fitting()));
      this.#inHand = group.length;
      await this.#commit(group);
      this.#inHand = 0;
      this.#reach(group.at(-1)?.number ?? 0);
      const awaited = this.#isFull() || this.#items.some(({ settle }) => settle !== null);
      if (this.#busy && !awaited && maxWait > 0) await this.#gathering.wait(maxWait);
    }
    this.#away = null;
    this.#working = false;
    this.#reach(this.#taken);
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Entries at the head of the line that make a group of at most `maxBatch` items. */
  #fitting(): number {
    let room = this.#input.limits.maxBatch;
    const over = this.#items.findIndex((item) => (room -= itemsOf(item)) < 0);
    return over < 0 ? this.#items.length : over;
  }

  /** Gathering more would not make the next group larger. */
  #isFull(): boolean {
    return this.#fitting() < this.#items.length || this.#items.length >= this.#input.limits.maxBatch;
  }

  /** One group until it is stored. A group that storage cannot take is taken apart, so that one bad entry costs only itself. */
  async #commit(items: readonly Item[]): Promise<void> {
    let group = items;
    for (let again = false; group.length > 0; again = true) {
      try {
        const committed = await this.#input.commit(group.map((item) => item.entry));
        this.#away = null;
        this.#tell(committed, again);
        this.#busy = this.#items.length > 0;
        for (const item of group) item.settle?.(null);
        return;
      } catch (error) {
        const surprise = error instanceof Error ? error : new Error(String(error));
        if (surprise instanceof StorageUnavailable) group = await this.#outlast(surprise, group);
        else if (group.length > 1) return this.#commitOneByOne(group);
        else return this.#giveUp(group, surprise);
      }
    }
  }

  /** Storage is away: nobody is kept waiting for it, and what need not be known now is tried again after a pause. */
  async #outlast(error: Error, group: readonly Item[]): Promise<readonly Item[]> {
    this.#away = error;
    for (const item of [...group, ...this.#items]) item.settle?.(error);
    this.#items = this.#items.filter((item) => !item.urgent);
    const rest = group.filter((item) => !item.urgent);
    if (rest.length > 0) await this.#patience.wait(retryMs);
    if (!this.#patience.ended) return rest;
    const lost = rest.length + this.#items.length;
    this.#lost ||= lost > 0;
    if (lost > 0) this.#input.log.error({ instance: this.#input.instance, entries: lost }, 'entries.lost');
    this.#items = [];
    return [];
  }

  /** It is stored: what a listener makes of it cannot undo that. */
  #tell(committed: Committed, again: boolean): void {
    const { instance, log } = this.#input;
    try {
      this.#input.committed(committed, again);
    } catch (error) {
      log.error({ instance, error }, 'commit.untold');
    }
  }

  async #commitOneByOne(group: readonly Item[]): Promise<void> {
    for (const item of group) await this.#commit([item]);
  }

  #giveUp(group: readonly Item[], error: Error): void {
    const { instance, log } = this.#input;
    for (const { entry, settle } of group) {
      log.error({ instance, kind: entry.kind, error }, 'entry.refused');
      settle?.(error);
    }
  }
}
