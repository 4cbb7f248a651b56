/** The figures of the server and of its instances, for `GET /admin/numbers` and for the log. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Gate } from '../policy/gate.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Log, Ports, Time } from '../ports.ts';
import { restingVitals } from '../session/vitals.ts';
import type { ClockWatch } from '../supervisor/clock-watch.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Numbers, StatusCounts } from '../views.ts';

interface NumbersInput {
  readonly clock: Pick<ClockWatch, 'trouble'>;
  readonly ports: Ports;
  readonly registry: Registry;
  readonly gate: Gate;
  readonly dispatcher: Dispatcher;
  readonly workers: SupervisedWorkers;
  /** The start of this process. In Unix milliseconds. */
  readonly since: number;
  /** Null if this gateway has all instances. */
  readonly cluster: Pick<Cluster, 'counts'> | null;
}

/** Counts the instances by status. The count reads only the status of each instance. */
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

/** Returns the reasons for which recorders wait for storage, without duplicates. */
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

// Logs the figures of quality. Each interval adds one line with sums over all instances, so that the log shows the history.

type Counts = Readonly<Record<string, number>>;

const addCounts = (sum: Counts, more: Counts): Counts => {
  const all = { ...sum };
  for (const [name, count] of Object.entries(more)) all[name] = (all[name] ?? 0) + count;
  return all;
};

/**
 * Returns the fields of a line: the figures of the server, and sums over the instances (or the worst value, if a sum has no meaning). Counters start at 0 with
 * the process. The counters of an instance end with the instance. A line has no id and no name, so its length does not grow with the instances.
 */
const totalsOf = ({ instances, outbox, ...server }: Numbers) => {
  const totals = { attempts: 0, opened: 0, crashes: 0, wakes: 0, eventsSetAside: 0, unrecorded: 0, queued: 0 };
  const worst = { longestReconnectMs: 0, lastFrameAgeMs: 0 };
  let closes: Counts = {};
  let workerCrashes: Counts = server.workerCrashes;
  for (const one of instances) {
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += one[name];
    for (const name of Object.keys(worst) as (keyof typeof worst)[]) worst[name] = Math.max(worst[name], one[name] ?? 0);
    if (Object.keys(one.closes).length > 0) closes = addCounts(closes, one.closes);
    if (Object.keys(one.workerCrashes).length > 0) workerCrashes = addCounts(workerCrashes, one.workerCrashes);
  }
  return { ...server, ...totals, closes, workerCrashes, ...worst, outboxWaiting: outbox.waiting, outboxParked: outbox.parked };
};

interface NumbersLogHost {
  readonly time: Time;
  readonly log: Log;
  /** The time between two lines. In milliseconds; 0 for no lines. */
  readonly every: number;
  /** Returns the figures. Instances without figures may be left out, because gathering ten thousand of them costs too much for one line. */
  numbers(): Numbers;
}

export class NumbersLog {
  readonly #host: NumbersLogHost;
  #timer: unknown = null;

  constructor(host: NumbersLogHost) {
    this.#host = host;
  }

  start(): void {
    const { time, every } = this.#host;
    if (every > 0) this.#timer = time.setTimeout(() => this.#write(), every);
  }

  stop(): void {
    this.#host.time.clearTimeout(this.#timer);
  }

  #write(): void {
    const { log, numbers } = this.#host;
    log.info(totalsOf(numbers()), 'service.numbers');
    this.start();
  }
}
