/** Brings the sessions of an earlier run back: their actors, their queues, and what waits in the outbox. */
import type { InstanceId, Wanted } from '../model.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { failAllInterrupted, restoreQueues } from '../session/queue-host.ts';
import { beginningOf } from '../session/status.ts';
import { untilStored } from '../waiting.ts';
import type { Registry } from './registry.ts';

export interface RestoreInput {
  readonly ports: Ports;
  readonly registry: Registry;
  /** Unix milliseconds. What was accepted before is of an earlier run. */
  readonly since: number;
  /** False during a stop: nothing more is brought back. */
  readonly open: () => boolean;
  /** Wakes a sleeping session for what waits in its queue. */
  readonly wake: (cell: Cell) => void;
}

/** Cells made in one turn of the event loop; making one and asking for admission takes some 100 µs. */
const cellsPerTurn = 50;

export class Restore {
  readonly #input: RestoreInput;
  /** Sessions that were online, and those of them that are not back yet. */
  #total = 0;
  readonly #restoring = new Set<InstanceId>();

  constructor(input: RestoreInput) {
    this.#input = input;
  }

  /** Counts the sessions that `run` brings back. Called when all records are registered. */
  begin(): void {
    for (const id of this.#wanted('online')) this.#restoring.add(id);
    this.#total = this.#restoring.size;
  }

  /**
   * Makes the actors of sessions that shall be online, most recently active first, then of those whose unlinking was interrupted; each asks the
   * gate before it connects. An instance at rest has nothing to do, and gets its actors when somebody asks for them. Then continues what waits in
   * the outbox.
   */
  async run(): Promise<void> {
    const { ports, registry, open, wake } = this.#input;
    const activeAt = (id: InstanceId): number => registry.record(id)?.lastActiveAt ?? 0;
    const order = this.#wanted('online').toSorted((a, b) => activeAt(b) - activeAt(a));
    for (const [index, id] of [...order, ...this.#wanted('unlinked')].entries()) {
      if (!open()) return;
      registry.cell(id);
      if (index % cellsPerTurn === cellsPerTurn - 1) await this.#pause(0);
    }
    const cellOf = (id: InstanceId): Cell | null => (open() ? registry.cell(id) : null);
    await restoreQueues(ports, { cellOf, wake, untilStored: (work) => this.#untilStored(work) });
    const pending = await this.#untilStored(() => ports.outbox.pending());
    if (open()) for (const { instanceId, webhookId } of pending) registry.cell(instanceId)?.nudge(webhookId);
  }

  /** The session is live: its queue of an earlier run goes on. Never rejects. */
  async live(cell: Cell): Promise<void> {
    const { ports, since } = this.#input;
    this.forget(cell.record.id);
    try {
      await this.#untilStored(() => failAllInterrupted(ports, cell, since));
    } catch (error) {
      ports.log.warn({ instance: cell.record.id, error }, 'queue.unread');
    }
    cell.queue.resume();
  }

  forget(id: InstanceId): void {
    this.#restoring.delete(id);
  }

  /** Sessions that are not back yet. */
  get restoring(): ReadonlySet<InstanceId> {
    return this.#restoring;
  }

  get progress(): { readonly restored: number; readonly total: number } {
    for (const id of this.#restoring) {
      const status = this.#input.registry.cells.get(id)?.status;
      if (status !== undefined && status !== 'connecting') this.#restoring.delete(id);
    }
    return { restored: this.#total - this.#restoring.size, total: this.#total };
  }

  #wanted(wanted: Wanted): readonly InstanceId[] {
    const { registry } = this.#input;
    return [...registry.ids].filter((id) => {
      const record = registry.record(id);
      return record !== undefined && beginningOf(record) === wanted;
    });
  }

  /** Tries again while the storage is away: what an earlier run left would wait for the next start otherwise. */
  #untilStored<T>(work: () => Promise<T>): Promise<T> {
    const { open } = this.#input;
    const pause = {
      get ended() {
        return !open();
      },
      wait: (ms: number) => this.#pause(ms),
    };
    return untilStored(pause, work);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#input.ports.time.setTimeout(resolve, ms));
  }
}
