/** Logs the figures of quality. Each interval adds one line with sums over all instances, so that the log shows the history. */
import type { Numbers } from './views.ts';
import type { Log, Time } from './ports.ts';

type Counts = Readonly<Record<string, number>>;

const addCounts = (sum: Counts, more: Counts): Counts => {
  const all = { ...sum };
  for (const [name, count] of Object.entries(more)) all[name] = (all[name] ?? 0) + count;
  return all;
};

/**
 * Returns the fields of a line: the figures of the server, and sums over the instances (or the worst value, if a sum has no meaning). Counters start
 * with the process, and those of an instance end with the instance. A line has no id and no name, so its length does not grow with the instances.
 */
export const totalsOf = ({ instances, outbox, ...server }: Numbers) => {
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

export interface NumbersLogHost {
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
