/** Provides commands with the sessions of instances: live sessions for operations, and settled sessions for changes of the connection. */
import { type InstanceId, notConnected, type Refusal, refuse, type Result, unknownInstance } from '../model.ts';
import type { AnswerOf, InputOf, OperationName } from '../operations.ts';
import type { Cell } from '../session/cell.ts';
import { performIn } from '../session/requests.ts';
import type { Registry } from './registry.ts';
import type { Capacity, Waking } from './waking.ts';

/** The longest wait of a command for the chart, in addition to the time-out of unlinking. In milliseconds. */
export const settleMs = 10_000;

const beingImported = refuse('conflict', 'a session is being imported into the instance: try again in a moment');
const importRuns = refuse('unavailable', beingImported.refusal.message);

/** Returns true if a requested logout is still running. A logout that waits for storage or for the crash cooldown does not count. */
const isUnlinking = (cell: Cell): boolean => cell.record.wanted === 'unlinked' && !cell.undiscarded && !cell.failed;

export const isSettled = (cell: Cell): boolean => !cell.closing && !isUnlinking(cell);

interface CellsInput {
  readonly registry: Registry;
  readonly capacity: Pick<Capacity, 'objection'>;
  readonly waking: Pick<Waking, 'awake' | 'keepAwake'>;
  /** The time-out of a logout. In milliseconds. */
  readonly unlinkTimeout: number;
}

export class Cells {
  readonly #input: CellsInput;
  /** Instances that are being removed. A removal may take a while. */
  readonly #removals = new Map<InstanceId, Promise<Result<unknown>>>();
  /** Instances into which an imported session is being stored. */
  readonly #importing = new Set<InstanceId>();

  constructor(input: CellsInput) {
    this.#input = input;
  }

  /** Returns null for an unknown instance, or one that another process owns. */
  get(id: InstanceId): Cell | null {
    return this.#input.registry.cell(id);
  }

  // Live sessions.

  /** Returns the cell of the instance. Wakes a hibernated session and waits for it. The session may still be unconnected. */
  awake(id: InstanceId): Promise<Result<Cell>> {
    return this.#input.waking.awake(id);
  }

  /** Keeps the session from hibernating until it is idle again. */
  keepAwake(cell: Cell): void {
    this.#input.waking.keepAwake(cell);
  }

  /** Runs a task on a live session, and wakes a hibernated session first. `task` starts at most once, and only while the session is connected. */
  async live<T>(id: InstanceId, task: (cell: Cell, signal: AbortSignal) => Promise<Result<T>>): Promise<Result<T>> {
    const awake = await this.awake(id);
    if (!awake.ok) return awake;
    const cell = awake.value;
    return (await cell.request((signal) => task(cell, signal))) ?? notConnected;
  }

  /** Runs an operation on a live session, as a child of its chart. */
  perform<N extends OperationName>(id: InstanceId, name: N, input: InputOf<N>): Promise<Result<AnswerOf<N>>> {
    return this.live(id, (cell, signal) => performIn(cell, signal, name, input));
  }

  // Settled sessions. The chart accepts no commands while the session is closing.

  /** Runs a command on an instance that is neither closing nor being removed. */
  async settled<T>(id: InstanceId, command: (cell: Cell) => Promise<Result<T>>): Promise<Result<T>> {
    await this.#removals.get(id)?.catch(() => undefined); // Only the caller of the removal gets its failure.
    const cell = this.get(id);
    if (!cell) return unknownInstance;
    await this.settle(cell);
    return command(cell);
  }

  /** Waits until the session is neither closing nor logging out. Returns false if the wait was too long. */
  settle(cell: Cell): Promise<boolean> {
    return cell.waitFor(isSettled, settleMs + this.#input.unlinkTimeout);
  }

  /** Runs a removal. Later commands wait for its end, and a second removal gets the same answer. */
  removal<T>(id: InstanceId, remove: (cell: Cell) => Promise<Result<T>>): Promise<Result<T>> {
    const known = this.#removals.get(id);
    if (known) return known as Promise<Result<T>>;
    const removal = this.settled(id, remove).finally(() => this.#removals.delete(id));
    this.#removals.set(id, removal);
    return removal;
  }

  /**
   * Begins the logout of a session. Returns a refusal during an import, because the logout would delete or unlink the imported session. `unlinked` is
   * stored first, so that the next start resumes the logout after a crash. Rejects during a database outage, before any change.
   */
  async unlink(cell: Cell): Promise<{ readonly ok: false; readonly refusal: Refusal } | null> {
    const { id, wanted } = cell.record;
    if (this.#importing.has(id)) return importRuns;
    await cell.keeper.save({ wanted: 'unlinked' });
    // An import may have begun meanwhile. No `await` separates this check from the event to the chart.
    if (this.#importing.has(id)) {
      cell.keeper.note({ wanted });
      return importRuns;
    }
    cell.send({ type: 'instance.disconnect' });
    return null;
  }

  /** Runs an import into an instance. No connect and no logout begins meanwhile. Returns null if another import is under way. */
  async import<T>(id: InstanceId, store: () => Promise<T>): Promise<T | null> {
    if (this.#importing.has(id)) return null;
    this.#importing.add(id);
    try {
      return await store();
    } finally {
      this.#importing.delete(id);
    }
  }

  /** Returns a refusal if the session may not connect now, else null. */
  objection(id: InstanceId): { readonly ok: false; readonly refusal: Refusal } | null {
    return this.#importing.has(id) ? beingImported : this.#input.capacity.objection(id);
  }
}
