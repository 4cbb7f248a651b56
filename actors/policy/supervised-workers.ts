/**
 * Restarts the background workers of an instance, or of the whole process, and counts their crashes.
 *
 * A worker is a function that runs until no work is left. A throw or a rejection is a crash. A crash is counted under the worker's name
 * (`workerCrashes` in GET /admin/numbers) and logged as `worker.crashed`. The worker then restarts after a back-off, which doubles with
 * every crash within the crash window and never exceeds that window. A worker must keep its state outside `run`, so that the state survives
 * a crash. It must also set aside work that can never succeed. Otherwise the worker crashes about once per window without end.
 */
import { EpochLost, type Log, type Meter, type Ports, StorageFailure, type Time } from '../ports.ts';
import { Pause } from '../waiting.ts';
import { addTime, backOff } from './pacing.ts';
import type { Policy } from './policy.ts';

interface SupervisionInput {
  readonly time: Time;
  readonly log: Log;
  readonly policy: Pick<Policy, 'reconnect' | 'crash'>;
  random(): number;
  /** Fields of each log line, such as the instance. */
  readonly fields: object;
  readonly meter?: Pick<Meter, 'crashed'>;
}

export interface WorkerInput {
  /** The name in the crash count. Workers with one name share a count. */
  readonly name: string;
  /** Runs until no work is left. Called again only after the last call has settled. */
  run(): Promise<void> | void;
  /** Additional fields of the worker's log lines. */
  readonly fields?: object;
}

class Worker {
  readonly #surroundings: SupervisionInput;
  readonly #input: WorkerInput;
  readonly #count: () => void;
  #recent: readonly number[] = [];
  #running = false;
  /** True if the worker has to run again. A wake during a run sets this field, because the run may have looked for work before the wake. */
  #again = false;
  #restart: unknown = null;
  #stopped = false;

  constructor(surroundings: SupervisionInput, input: WorkerInput, count: () => void) {
    this.#surroundings = surroundings;
    this.#input = input;
    this.#count = count;
  }

  /** Runs the worker now. A wake during a run causes one more run, and a wake during a back-off has no effect. Never throws. */
  wake(): void {
    if (this.#stopped || this.#restart !== null) return;
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  /** Reports a throw outside `run`, such as in a timer or a callback. `run` is called after the back-off. */
  crashed(error: unknown): void {
    if (this.#stopped) return;
    const { time, log, policy, random, fields } = this.#surroundings;
    this.#count();
    this.#recent = addTime(this.#recent, time.now(), policy.crash.window);
    const delay = backOff({ min: policy.reconnect.min, max: policy.crash.window }, this.#recent.length - 1, random());
    log.error({ ...fields, worker: this.#input.name, ...this.#input.fields, retryInMs: delay, error }, 'worker.crashed');
    this.#restart ??= time.setTimeout(() => {
      this.#restart = null;
      this.wake();
    }, delay);
  }

  /** True if the worker crashed and waits for its restart. */
  get isDown(): boolean {
    return this.#restart !== null;
  }

  get name(): string {
    return this.#input.name;
  }

  /** Runs a crashed worker now instead of after its back-off. */
  restart(): void {
    if (this.#restart === null || this.#stopped) return;
    this.#surroundings.time.clearTimeout(this.#restart);
    this.#restart = null;
    this.wake();
  }

  /** Stops the worker. A current run continues to its end, and no further run begins. Idempotent. */
  stop(): void {
    this.#stopped = true;
    this.#surroundings.time.clearTimeout(this.#restart);
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again && !this.#stopped && this.#restart === null) {
        this.#again = false;
        await this.#input.run();
      }
    } catch (error) {
      this.crashed(error);
    }
    this.#running = false;
  }
}

export type SupervisedWorker = Worker;

export class SupervisedWorkers {
  readonly #input: SupervisionInput;
  readonly #workers = new Set<Worker>();
  readonly #crashes: Record<string, number> = {};

  constructor(input: SupervisionInput) {
    this.#input = input;
  }

  /** Creates a worker, which is idle until its first wake. */
  supervise(input: WorkerInput): SupervisedWorker {
    const worker = new Worker(this.#input, input, () => {
      this.#crashes[input.name] = (this.#crashes[input.name] ?? 0) + 1;
      this.#input.meter?.crashed(input.name);
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Stops one worker. `crashes` still includes the crashes of the worker. */
  dismiss(worker: SupervisedWorker): void {
    worker.stop();
    this.#workers.delete(worker);
  }

  /** Crashes since the start by worker name. Workers without crashes are absent. */
  get crashes(): Readonly<Record<string, number>> {
    return { ...this.#crashes };
  }

  /** Names of workers that crashed and wait for their restart. */
  get down(): readonly string[] {
    return [...this.#workers].filter(({ isDown }) => isDown).map(({ name }) => name);
  }

  /** Restarts the crashed workers of this name, or all (null), now. Returns the number of restarted workers. */
  restart(name: string | null): number {
    const down = [...this.#workers].filter((worker) => worker.isDown && (name === null || worker.name === name));
    for (const worker of down) worker.restart();
    return down.length;
  }

  /** Stops all workers. Idempotent. */
  stop(): void {
    for (const worker of this.#workers) worker.stop();
  }
}

/** Creates the supervision of workers. `fields`: additional fields of each log line. */
export const supervisedWorkers = (
  { time, log, chance, meter }: Pick<Ports, 'time' | 'log' | 'chance' | 'meter'>,
  policy: Policy,
  fields: object,
): SupervisedWorkers => new SupervisedWorkers({ time, log, meter, policy, fields, random: () => chance.random() });

// Periodic background work: a supervised worker, the timer that wakes it, and the pause between two batches of its work.

interface PeriodicInput {
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
  /** The name of the worker in the crash count. */
  readonly name: string;
  /** The pause between two runs. In milliseconds. */
  readonly everyMs: number;
  /**
   * The log event of a run in which storage did not answer, or rejected a write of a former owner. The next run retries, so the worker does not count as
   * crashed.
   */
  readonly unanswered: string;
  /** Returns false if another process does the work now. The run is then skipped. */
  onDuty?(): boolean;
  /** Performs one run. A run with several batches waits between them with `pause`, and stops when `pause.ended` is true. */
  run(pause: Pause): Promise<void>;
}

export class PeriodicWorker {
  readonly #input: PeriodicInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;
  #timer: unknown = null;

  constructor(input: PeriodicInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#worker = input.workers.supervise({ name: input.name, run: () => this.#run() });
  }

  /** Starts the timer. The first run begins after `everyMs`. */
  start(): void {
    const { time, everyMs } = this.#input;
    this.#timer = time.setTimeout(() => {
      this.start();
      this.wake();
    }, everyMs);
  }

  /** Starts a run now, or after the current run. */
  wake(): void {
    this.#worker.wake();
  }

  /** Stops the worker. A current run stops after its batch. Idempotent. */
  stop(): void {
    this.#worker.stop();
    this.#pause.end();
    this.#input.time.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#input.onDuty?.() === false) return;
    try {
      await this.#input.run(this.#pause);
    } catch (error) {
      if (!(error instanceof StorageFailure || error instanceof EpochLost)) throw error;
      this.#input.log.warn({ error }, this.#input.unanswered);
    }
  }
}
