/** All registered instances: their records, their tokens, and the cells of those that need one. */
import type { InstanceView } from '../face.ts';
import type { InstanceId, InstanceRecord, Status } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import { beginningOf, restingStatus, restingView } from '../session/status.ts';

export class Registry {
  readonly #make: (record: InstanceRecord) => Cell;
  /** Whether this process may act for the instance. */
  readonly owns: (id: InstanceId) => boolean;
  /** As they were read or registered; the record of an instance with a cell is the cell's. */
  readonly #records = new Map<InstanceId, InstanceRecord>();
  readonly #cells = new Map<InstanceId, Cell>();
  readonly #tokens = new Map<string, InstanceId>();

  /** `owns`: whether this process may act for an instance; it makes no cell of any other. */
  constructor(make: (record: InstanceRecord) => Cell, owns: (id: InstanceId) => boolean = () => true) {
    this.#make = make;
    this.owns = owns;
  }

  register(record: InstanceRecord): void {
    this.#records.set(record.id, record);
    this.#tokens.set(record.token, record.id);
  }

  add(record: InstanceRecord): Cell {
    this.register(record);
    const cell = this.cell(record.id);
    if (!cell) throw new Error('a registered instance has a cell');
    return cell;
  }

  forget(id: InstanceId): void {
    this.#tokens.delete(this.record(id)?.token ?? '');
    this.#cells.delete(id);
    this.#records.delete(id);
  }

  /** The cell is closed and ended; its instance is one without a cell again. */
  drop(id: InstanceId): void {
    const record = this.#cells.get(id)?.record;
    this.#cells.delete(id);
    if (record) this.#records.set(id, record);
  }

  /** Cells that exist. */
  get cells(): ReadonlyMap<InstanceId, Cell> {
    return this.#cells;
  }

  get size(): number {
    return this.#records.size;
  }

  get ids(): Iterable<InstanceId> {
    return this.#records.keys();
  }

  /** The cell of a registered instance, made when it is first asked for; null when there is no such instance, or another process owns it. */
  cell(id: InstanceId): Cell | null {
    const known = this.#cells.get(id);
    if (known) return known;
    const record = this.#records.get(id);
    if (!record || !this.owns(id)) return null;
    const cell = this.#make(record);
    this.#cells.set(id, cell);
    return cell;
  }

  /** The record as it is now. */
  record(id: InstanceId): InstanceRecord | undefined {
    return this.#cells.get(id)?.record ?? this.#records.get(id);
  }

  /** Makes no cell: that is for the restore, in its order, or for a command. */
  view(id: InstanceId): InstanceView | null {
    const record = this.#records.get(id);
    return record ? (this.#cells.get(id)?.view ?? restingView(record)) : null;
  }

  /** Like that of the view, at less cost. */
  status(id: InstanceId): Status {
    const record = this.#records.get(id);
    return this.#cells.get(id)?.status ?? (record ? restingStatus(record) : 'disconnected');
  }

  views(): readonly InstanceView[] {
    return [...this.#records.values()].map((record) => this.#cells.get(record.id)?.view ?? restingView(record));
  }

  byToken(token: string): InstanceId | null {
    const id = this.#tokens.get(token);
    if (id === undefined) return null;
    return this.record(id)?.token === token ? id : null;
  }

  /** The record's token changed; the old one is void, whatever order two rotations ended in. */
  addToken(token: string, id: InstanceId): void {
    this.#tokens.set(token, id);
    for (const [old, owner] of this.#tokens) if (owner === id && old !== this.record(id)?.token) this.#tokens.delete(old);
  }

  /** Sleeping instances without a cell that were last active at this time or before. */
  resting(before: number): readonly InstanceId[] {
    const due: InstanceId[] = [];
    for (const [id, record] of this.#records)
      if (record.lastActiveAt <= before && !this.#cells.has(id) && beginningOf(record) === 'asleep') due.push(id);
    return due;
  }
}
