/** Gathers the figures of all instances in slices, so that ten thousand instances do not block the event loop. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Figures } from '../views.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Gate } from '../policy/gate.ts';
import type { Ports } from '../ports.ts';
import type { ClockWatch } from '../supervisor/clock-watch.ts';
import type { Restore } from '../supervisor/waking.ts';
import { restingStatus } from '../session/status.ts';
import type { Registry } from '../supervisor/registry.ts';
import { restingStates, stateOf } from './rows.ts';

export interface FiguresInput {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly gate: Gate;
  readonly clock: Pick<ClockWatch, 'ahead' | 'trouble'>;
  readonly dispatcher: Dispatcher;
  readonly restore: Pick<Restore, 'progress'>;
  /** Null if this gateway has all instances. */
  readonly cluster: Pick<Cluster, 'counts' | 'figures'> | null;
}

/** Instances per turn of the event loop: less than 2 ms of work. */
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
