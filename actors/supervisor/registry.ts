/** All registered instances with their records and tokens, and the cells of those that need one. */
import type { GatewayEvent, InstanceId, InstanceRecord, Status } from '../model.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { beginningOf, restingStatus, restingView } from '../session/status.ts';
import type { InstanceView } from '../views.ts';

export class Registry {
  readonly #make: (record: InstanceRecord) => Cell;
  /** Returns true if this process may act for the instance. */
  readonly owns: (id: InstanceId) => boolean;
  /** Records in the state in which they were read or registered. The cell of an instance has the current record. */
  readonly #records = new Map<InstanceId, InstanceRecord>();
  readonly #cells = new Map<InstanceId, Cell>();
  readonly #tokens = new Map<string, InstanceId>();
  /** One set for each database read under way. A set contains the instances that were forgotten during its read. */
  readonly #forgotten = new Set<Set<InstanceId>>();

  /** `owns` returns true if this process owns the instance. The registry makes no cell of any other instance. */
  constructor(make: (record: InstanceRecord) => Cell, owns: (id: InstanceId) => boolean = () => true) {
    this.#make = make;
    this.owns = owns;
  }

  register(record: InstanceRecord): void {
    const former = this.#records.get(record.id)?.token ?? '';
    this.#records.set(record.id, record);
    // Another node may have replaced the token.
    if (former !== this.record(record.id)?.token && this.#tokens.get(former) === record.id) this.#tokens.delete(former);
    this.#index(record.token, record.id);
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
    for (const ids of this.#forgotten) ids.add(id);
  }

  /** Reads a record of the database. Returns null if the instance was forgotten meanwhile, because the read may have begun before the removal. */
  async unforgotten(read: () => Promise<InstanceRecord | null>): Promise<InstanceRecord | null> {
    const forgotten = new Set<InstanceId>();
    this.#forgotten.add(forgotten);
    try {
      const record = await read();
      return record === null || forgotten.has(record.id) ? null : record;
    } finally {
      this.#forgotten.delete(forgotten);
    }
  }

  /** Forgets a closed and ended cell. Its instance stays registered without a cell. */
  drop(id: InstanceId): void {
    const record = this.#cells.get(id)?.record;
    this.#cells.delete(id);
    if (record) this.#records.set(id, record);
  }

  get cells(): ReadonlyMap<InstanceId, Cell> {
    return this.#cells;
  }

  get size(): number {
    return this.#records.size;
  }

  get ids(): Iterable<InstanceId> {
    return this.#records.keys();
  }

  /** Returns the cell of a registered instance, and makes it on the first call. Returns null for an unknown instance, or one that another process owns. */
  cell(id: InstanceId): Cell | null {
    const known = this.#cells.get(id);
    if (known) return known;
    const record = this.#records.get(id);
    if (!record || !this.owns(id)) return null;
    const cell = this.#make(record);
    this.#cells.set(id, cell);
    return cell;
  }

  /** Returns the record of the cell, or the registered record if there is no cell. */
  record(id: InstanceId): InstanceRecord | undefined {
    return this.#cells.get(id)?.record ?? this.#records.get(id);
  }

  /** Returns the view without making a cell, so that a list of thousands of resting instances makes none. */
  view(id: InstanceId): InstanceView | null {
    const record = this.#records.get(id);
    return record ? (this.#cells.get(id)?.view ?? restingView(record)) : null;
  }

  /** Returns the status without the cost of the whole view. */
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

  /** Replaces the token of the instance. All former tokens become void, even if two concurrent rotations end in the reverse order. */
  addToken(token: string, id: InstanceId): void {
    this.#index(token, id);
    for (const [old, owner] of this.#tokens) if (owner === id && old !== this.record(id)?.token) this.#tokens.delete(old);
  }

  /** Adds a token to the index. The token of an unreadable record is empty and is not indexed. */
  #index(token: string, id: InstanceId): void {
    if (token !== '') this.#tokens.set(token, id);
  }

  /** Returns the sleeping instances without a cell whose last activity was at this time or earlier. */
  resting(before: number): readonly InstanceId[] {
    const due: InstanceId[] = [];
    for (const [id, record] of this.#records)
      if (record.lastActiveAt <= before && !this.#cells.has(id) && beginningOf(record) === 'asleep') due.push(id);
    return due;
  }
}

// Looks up the instance of a token in the database, because another node may have just created the instance. Unknown tokens are cached, so that a client with a
// void token does not cost one query per request.

/** The time for which an unknown token is cached. Every node learns of a new instance within a second by other means. In milliseconds. */
const keptMs = 10_000;
const mostKept = 10_000;
/** The largest length of a token that is looked up in the database. In characters. */
const longestToken = 500;

export class TokenLookup {
  readonly #ports: Pick<Ports, 'instances' | 'time'>;
  /** Unknown tokens with the end of their caching, by the monotonic clock. Oldest first. */
  readonly #missing = new Map<string, number>();

  constructor(ports: Pick<Ports, 'instances' | 'time'>) {
    this.#ports = ports;
  }

  async find(token: string): Promise<InstanceRecord | null> {
    const { instances, time } = this.#ports;
    if (token.length > longestToken || (this.#missing.get(token) ?? 0) > time.monotonic()) return null;
    const record = await instances.byToken(token);
    this.#missing.delete(token);
    if (record === null) this.#remember(token);
    return record;
  }

  #remember(token: string): void {
    this.#missing.set(token, this.#ports.time.monotonic() + keptMs);
    const [oldest] = this.#missing.size > mostKept ? this.#missing.keys() : [];
    if (oldest !== undefined) this.#missing.delete(oldest);
  }
}

// The interface of parts that follow the events of every instance, such as the inspector, the streams and the chatbot.

/** A part of the gateway that reads the events of instances. An error that a reader throws is logged and has no other effect. All methods are optional. */
export interface InstanceReader {
  /** Called when this process owns more instances than before. */
  begun?(): void;
  /** Takes a committed event, and the epoch under which it was committed. */
  note?(event: GatewayEvent, epoch: number): void;
  /** Called each time a session becomes live. */
  live?(cell: Cell): void;
  /** Called when the instance is gone, or moves to another node. The reader ends its work for the instance and drops its data. */
  forget?(id: InstanceId): void;
  /** Called when the process stops. */
  stop?(): void;
}
