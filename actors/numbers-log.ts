/** Logs the figures of quality: one line per interval with the sums over all instances, so that the past can be looked at in the log. */
import type { Numbers } from './face.ts';
import type { Log, Time } from './ports.ts';

type Counts = Readonly<Record<string, number>>;

const addCounts = (sum: Counts, more: Counts): Counts => {
  const all = { ...sum };
  for (const [name, count] of Object.entries(more)) all[name] = (all[name] ?? 0) + count;
  return all;
};

/**
 * What a line holds: the figures of the server, and of its instances the sums, or the worst where a sum says nothing. Counters run from the
 * start of the process; those of an instance end with it. No id and no name: a line is as long for one instance as for ten thousand.
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
  /** Milliseconds between two lines; 0: none are written. */
  readonly every: number;
  /** Instances without figures may be left out; ten thousand of them take longer than a line is worth. */
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
