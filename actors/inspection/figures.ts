/** The figures of this node, gathered from all instances in slices, and stored by the minute. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Gate } from '../policy/gate.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { FigureRow, FigureStore, Log, Meter, Ports, Time, Totals } from '../ports.ts';
import { restingStatus } from '../session/status.ts';
import type { ClockWatch } from '../supervisor/clock-watch.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Restore } from '../supervisor/waking.ts';
import type { Figures } from '../views.ts';
import { type FigureMethods, figureNames, figuresKeptMs, type NodeSteps } from '../views/operators.ts';
import { within } from '../waiting.ts';
import { restingStates, stateOf } from './rows.ts';

// Gathers the figures of all instances in slices, so that ten thousand instances do not block the event loop.

interface FiguresInput {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly gate: Gate;
  readonly clock: Pick<ClockWatch, 'ahead' | 'trouble'>;
  readonly dispatcher: Dispatcher;
  readonly restore: Pick<Restore, 'progress'>;
  /** Null if this gateway has all instances. */
  readonly cluster: Pick<Cluster, 'counts' | 'figures'> | null;
}

/** The number of instances per turn of the event loop. They take less than 2 ms. */
const perTurn = 500;

export async function figuresOf({ ports, registry, gate, clock, dispatcher, restore, cluster }: FiguresInput): Promise<Figures> {
  const states = new Map<string, number>();
  const frameAges: number[] = [];
  const sums = { queued: 0, unrecorded: 0, operations: 0 };
  const now = ports.time.now();
  for (const [index, id] of [...registry.ids].entries()) {
    if (index % perTurn === perTurn - 1) await ports.time.turn();
    const cell = registry.cells.get(id);
    const record = registry.record(id);
    if (!record || cluster?.counts(record) === false) continue; // The instance is gone, or another node counts it.
    const state = cell ? stateOf(cell) : restingStates[restingStatus(record)];
    states.set(state, (states.get(state) ?? 0) + 1);
    if (!cell) continue;
    sums.queued += cell.queue.pending;
    sums.unrecorded += cell.recorder.waiting;
    sums.operations += cell.operations;
    const seen = state === 'connected' ? cell.link.lastFrameAt() : 0;
    if (seen > 0) frameAges.push(now - seen);
  }
  const { outstanding, oldestAt } = dispatcher.sweeper;
  return {
    states,
    frameAges,
    ...sums,
    handshakesWaiting: gate.waiting,
    barrier: gate.barrier,
    clientVersion: ports.platform.clientVersion(),
    restoring: restore.progress.total - restore.progress.restored,
    loopLagMs: ports.loopLagMs(),
    disk: { free: ports.disk.freeBytes, size: ports.disk.sizeBytes },
    clock: { aheadMs: clock.ahead, inDoubt: clock.trouble !== '' },
    outbox: { ...outstanding, oldestAgeMs: oldestAt === null ? 0 : Math.max(0, now - oldestAt) },
    circuitsOpen: dispatcher.openCircuits,
    node: cluster?.figures ?? null,
  };
}

// Stores the figures of this node by the minute. Once a minute the worker reads existing counters, so the figures add no cost to a message. While storage is
// away the rows wait, up to a limit, and are stored afterwards.

const minuteMs = 60_000;
/** The shortest time that a row covers. A worker that was woken again at once has nothing to add. In milliseconds. */
const leastSpanMs = 1_000;
/** The largest number of rows that wait for storage, which is the number of rows that storage keeps. */
const mostWaiting = figuresKeptMs / minuteMs;
/** The longest wait of a stop for the last row. In milliseconds. */
const lastWriteMs = 2_000;

interface FigureLogInput {
  readonly store: Pick<FigureStore, 'put'>;
  /** The name of this node; '' without a cluster. */
  readonly node: string;
  readonly meter: Pick<Meter, 'totals'>;
  memoryBytes(): number;
  loopLagMs(): number;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
}

const counters = ['received', 'sent', 'delivered', 'failed', 'reconnects'] as const satisfies readonly (keyof Totals)[];

const countersOf = (value: (name: keyof Totals) => number): Totals =>
  Object.fromEntries(counters.map((name) => [name, value(name)])) as Record<keyof Totals, number>;

/** Joins two rows of one minute. */
const joined = (one: FigureRow, other: FigureRow): FigureRow => ({
  minute: one.minute,
  spanMs: one.spanMs + other.spanMs,
  ...countersOf((name) => one[name] + other[name]),
  memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
  loopMs: Math.max(one.loopMs, other.loopMs),
});

export class FigureLog {
  readonly #input: FigureLogInput;
  readonly #worker: PeriodicWorker;
  /** The last reading. Its time is from the monotonic clock, so that no correction of the wall clock changes the time. */
  #read: { readonly totals: Totals; readonly at: number };
  /** The last row. The figures of a second reading within the same minute are added to the row. */
  #last: FigureRow | null = null;
  /** Rows that wait for storage, by minute, oldest first. */
  readonly #waiting = new Map<number, FigureRow>();

  constructor(input: FigureLogInput) {
    const { time, log, workers, meter } = input;
    this.#input = input;
    this.#read = { totals: meter.totals, at: time.monotonic() };
    const run = async (): Promise<void> => {
      this.#take();
      await this.#store();
    };
    this.#worker = new PeriodicWorker({ time, log, workers, name: 'figures', everyMs: minuteMs, unanswered: 'figures.notStored', run });
  }

  start(): void {
    this.#worker.start();
  }

  /** Stores the figures since the last row, if storage answers in time. */
  async stop(): Promise<void> {
    this.#worker.stop();
    this.#take();
    await within(
      this.#input.time,
      lastWriteMs,
      this.#store().catch(() => undefined),
    );
  }

  #take(): void {
    const { meter, time, memoryBytes, loopLagMs } = this.#input;
    const [{ totals: before, at: since }, totals, at] = [this.#read, meter.totals, time.monotonic()];
    const spanMs = at - since;
    if (spanMs < leastSpanMs) return;
    this.#read = { totals, at };
    const row: FigureRow = {
      minute: Math.floor(time.now() / minuteMs),
      spanMs,
      ...countersOf((name) => totals[name] - before[name]),
      memoryBytes: memoryBytes(),
      loopMs: loopLagMs(),
    };
    this.#last = this.#last?.minute === row.minute ? joined(this.#last, row) : row;
    this.#waiting.set(row.minute, this.#last);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }

  async #store(): Promise<void> {
    const rows = [...this.#waiting.values()];
    if (rows.length === 0) return;
    await this.#input.store.put(this.#input.node, rows);
    // A row that grew during the write stays, and is stored again.
    for (const row of rows) if (this.#waiting.get(row.minute) === row) this.#waiting.delete(row.minute);
  }
}

// Reads the figures of all nodes.

/** Returns the length of a step in minutes. An answer has at most 360 steps, which is more than a small chart has pixels. */
const stepOf = (hours: number): number => (hours <= 6 ? 1 : 5);

/** The largest number of nodes in one answer. */
const mostNodes = 50;

export const figureCommands = ({ figureRows, time }: { readonly figureRows: FigureStore; readonly time: Time }): FigureMethods => ({
  async figureHistory(hours) {
    const step = stepOf(hours);
    const last = Math.floor(time.now() / minuteMs / step);
    const steps = (hours * 60) / step;
    const first = last - steps + 1;
    const rows = await figureRows.find({ from: first * step, to: (last + 1) * step, step, limit: steps * mostNodes });
    const nodes = [...Map.groupBy(rows, ({ node }) => node)].map(([name, own]): NodeSteps => {
      const byStep = new Map(own.map((row) => [row.minute / step - first, row]));
      const column = (of: (row: (typeof own)[number]) => number): readonly (number | null)[] =>
        Array.from({ length: steps }, (_, index) => {
          const row = byStep.get(index);
          return row === undefined ? null : of(row);
        });
      const columns = Object.fromEntries(figureNames.map((figure) => [figure, column((row) => row[figure])]));
      return { name, seconds: column(({ spanMs }) => Math.round(spanMs / 1_000)), ...columns } as NodeSteps;
    });
    return { from: first * step * minuteMs, step, steps, nodes };
  },
});
