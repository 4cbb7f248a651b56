/** The watchers of steps of one instance, and of changes of the list. Without watchers this class holds no data and costs nothing. */
import type { ActorChanges, ActorCounts, ActorRow, Step, WatchEnd } from '../views/inspector.ts';
import type { InstanceId } from '../model.ts';
import type { Log, Time } from '../ports.ts';
import type { Steps } from '../session/steps.ts';
import type { LightRow } from './rows.ts';

/** The time for which changes of the list are batched. In milliseconds. */
const gatherMs = 200;
/** The largest number of instances in one batch of changes. Further instances follow in the next batch, so that many changes do not block the event loop. */
const mostChanges = 500;

interface WatchersInput {
  readonly time: Time;
  readonly log: Log;
  /** Returns the current row, or null if the instance is gone. */
  row(id: InstanceId): LightRow | null;
  /** Returns the rows of all instances. */
  rows(): Iterable<LightRow>;
}

interface StepWatcher extends WatchEnd {
  onStep(step: Step): void;
}

interface ListWatcher extends WatchEnd {
  onChanges(changes: ActorChanges): void;
}

/** The fields of an instance that the counts need. */
type Counted = Pick<ActorRow, 'status' | 'needsPerson'>;

export class Watchers {
  readonly #input: WatchersInput;
  readonly #ofSteps = new Map<InstanceId, Set<StepWatcher>>();
  readonly #ofList = new Set<ListWatcher>();
  /** The last counted state of each instance, while the list has watchers. */
  readonly #counted = new Map<InstanceId, Counted>();
  readonly #changed = new Set<InstanceId>();
  #timer: unknown = null;

  constructor(input: WatchersInput) {
    this.#input = input;
  }

  steps(id: InstanceId, watcher: StepWatcher): () => void {
    const all = this.#ofSteps.get(id) ?? new Set();
    this.#ofSteps.set(id, all.add(watcher));
    return () => {
      all.delete(watcher);
      if (all.size === 0 && this.#ofSteps.get(id) === all) this.#ofSteps.delete(id);
    };
  }

  list(watcher: ListWatcher): () => void {
    if (this.#ofList.size === 0)
      for (const { id, status, needsPerson } of this.#input.rows()) this.#counted.set(id, { status, needsPerson });
    this.#ofList.add(watcher);
    return () => {
      this.#ofList.delete(watcher);
      if (this.#ofList.size === 0) this.#rest();
    };
  }

  /** Reports a step of the instance to its watchers. */
  moved(id: InstanceId, steps: Steps): void {
    if (this.#ofList.size > 0) this.#note(id);
    const watchers = this.#ofSteps.get(id);
    if (watchers === undefined) return;
    for (const step of steps.after(steps.count - 1)) for (const watcher of watchers) this.#call(() => watcher.onStep(step));
  }

  /** Notes a change in the row of an instance that was not caused by a step. */
  changed(id: InstanceId): void {
    if (this.#ofList.size > 0) this.#note(id);
  }

  /** Ends the watchers of an instance that is gone. */
  forget(id: InstanceId): void {
    if (this.#ofList.size > 0) this.#note(id);
    for (const watcher of this.#ofSteps.get(id) ?? []) this.#call(() => watcher.onEnd());
    this.#ofSteps.delete(id);
  }

  /** Ends all watchers, because the admin token was replaced, or the process stops. */
  end(): void {
    const all = [...[...this.#ofSteps.values()].flatMap((watchers) => [...watchers]), ...this.#ofList];
    this.#ofSteps.clear();
    this.#ofList.clear();
    this.#rest();
    for (const watcher of all) this.#call(() => watcher.onEnd());
  }

  #rest(): void {
    this.#input.time.clearTimeout(this.#timer);
    this.#timer = null;
    this.#changed.clear();
    this.#counted.clear();
  }

  #note(id: InstanceId): void {
    this.#changed.add(id);
    this.#timer ??= this.#input.time.setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    this.#timer = null;
    const ids = [...this.#changed].slice(0, mostChanges);
    for (const id of ids) this.#changed.delete(id);
    const changes = { rows: ids.map((id) => [id, this.#count(id)] as const), counts: this.#counts };
    for (const watcher of this.#ofList) this.#call(() => watcher.onChanges(changes));
    if (this.#changed.size > 0) this.#timer = this.#input.time.setTimeout(() => this.#flush(), gatherMs);
  }

  #count(id: InstanceId): LightRow | null {
    const row = this.#input.row(id);
    if (row) this.#counted.set(id, { status: row.status, needsPerson: row.needsPerson });
    else this.#counted.delete(id);
    return row;
  }

  get #counts(): ActorCounts {
    return countsOf(this.#counted.values());
  }

  #call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#input.log.error({ error }, 'inspector.watcherFailed');
    }
  }
}

export const countsOf = (all: Iterable<Counted>): ActorCounts => {
  const counts = { connected: 0, connecting: 0, hibernated: 0, disconnected: 0, needsPerson: 0 };
  for (const { status, needsPerson } of all) {
    counts[status] += 1;
    if (needsPerson) counts.needsPerson += 1;
  }
  return counts;
};
