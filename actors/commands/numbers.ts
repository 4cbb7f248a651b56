/** The figures of the server and of its instances, for `GET /admin/numbers` and for the log. */
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Numbers, StatusCounts } from '../views.ts';
import type { Gate } from '../policy/gate.ts';
import type { Ports } from '../ports.ts';
import { restingVitals } from '../session/vitals.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { ClockWatch } from '../supervisor/clock-watch.ts';
import type { Registry } from '../supervisor/registry.ts';

export interface NumbersInput {
  readonly clock: Pick<ClockWatch, 'trouble'>;
  readonly ports: Ports;
  readonly registry: Registry;
  readonly gate: Gate;
  readonly dispatcher: Dispatcher;
  readonly workers: SupervisedWorkers;
  /** Start of this process. In Unix milliseconds. */
  readonly since: number;
  /** Null if this gateway has all instances. */
  readonly cluster: Pick<Cluster, 'counts'> | null;
}

/** Counts the instances by status. The count reads every instance, but nothing except the status. */
export function countsOf(registry: Registry): StatusCounts {
  const counts = { total: registry.size, connected: 0, connecting: 0, reconnecting: 0, disconnected: 0 };
  for (const id of registry.ids) {
    const status = registry.status(id);
    if (status === 'connected') counts.connected += 1;
    else if (status !== 'connecting') counts.disconnected += 1;
    else counts[registry.record(id)?.jid ? 'reconnecting' : 'connecting'] += 1;
  }
  return counts;
}

/** Returns the reasons for which recorders wait, without duplicates. */
export const troublesOf = ({ cells }: Registry): readonly string[] => [
  ...new Set([...cells.values()].map(({ recorder }) => recorder.trouble).filter((trouble) => trouble !== '')),
];

/** Returns the figures. With `resting`, the list includes instances that have no actors, and therefore no figures of their own. */
export function numbersOf({ clock, ports, registry, gate, dispatcher, workers, since, cluster }: NumbersInput, resting: boolean): Numbers {
  const restingMs = ports.time.now() - since;
  const counts = { disconnected: 0, connecting: 0, connected: 0, hibernated: 0, failed: 0 };
  const instances: Numbers['instances'][number][] = [];
  for (const id of registry.ids) {
    const record = registry.record(id);
    if (record && cluster?.counts(record) === false) continue;
    const cell = registry.cells.get(id);
    const status = registry.status(id);
    counts[status] += 1;
    if (cell?.failed) counts.failed += 1;
    if (cell || resting) instances.push({ id, status, ...(cell?.numbers ?? restingVitals(status, restingMs)) });
  }
  return {
    registered: registry.size,
    ...counts,
    handshakesWaiting: gate.waiting,
    barrier: gate.barrier,
    clock: clock.trouble,
    clientVersion: ports.platform.clientVersion(),
    loopLagMs: ports.loopLagMs(),
    workerCrashes: workers.crashes,
    outbox: dispatcher.sweeper.outstanding,
    instances,
  };
}
