/**
 * Restarts the background workers of an instance, or of the whole process, and counts their crashes.
 *
 * A worker is a function that works until nothing is left to do. A throw or a rejection is a crash: it is counted under the worker's name (shown
 * as `workerCrashes` in GET /admin/numbers), logged as `worker.crashed`, and the worker runs again by itself after a back-off. The back-off
 * doubles with every crash within the crash window and never exceeds that window. A worker therefore keeps its work outside of `run`, and sets
 * aside what can never succeed; otherwise it crashes about once a window for ever.
 */
import type { Policy } from './policy/policy.ts';
import { addTime, backOff } from './policy/back-off.ts';
import type { Log, Meter, Ports, Time } from './ports.ts';

export interface SupervisionInput {
  readonly time: Time;
  readonly log: Log;
  readonly policy: Pick<Policy, 'reconnect' | 'crash'>;
  random(): number;
  /** Added to each line of the log, such as the instance. */
  readonly fields: object;
  readonly meter?: Pick<Meter, 'crashed'>;
}

export interface WorkerInput {
  /** Names the crash count; workers of one name share it. */
  readonly name: string;
  /** Works until nothing is left to do. Never called again before it has settled. */
  run(): Promise<void> | void;
  /** Added to the worker's lines of the log. */
  readonly fields?: object;
}

class Worker {
  readonly #surroundings: SupervisionInput;
  readonly #input: WorkerInput;
  readonly #count: () => void;
  #recent: readonly number[] = [];
  #running = false;
  /** It was woken during a run, which may have looked for work already. */
  #again = false;
  #restart: unknown = null;
  #stopped = false;

  constructor(surroundings: SupervisionInput, input: WorkerInput, count: () => void) {
    this.#surroundings = surroundings;
    this.#input = input;
    this.#count = count;
  }

  /** Runs the worker now; once more after a run that is under way; not before the restart that a crash led to. Never throws. */
  wake(): void {
    if (this.#stopped || this.#restart !== null) return;
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  /** Reports a throw outside of `run`, such as in a timer or a callback. `run` is called after the back-off. */
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

  /** It crashed, and its restart is waited for. */
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

  /** A run that is under way goes on to its end; no other follows. Idempotent. */
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

  /** The worker rests until it is woken. */
  supervise(input: WorkerInput): SupervisedWorker {
    const worker = new Worker(this.#input, input, () => {
      this.#crashes[input.name] = (this.#crashes[input.name] ?? 0) + 1;
      this.#input.meter?.crashed(input.name);
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Stops one worker, whose crashes stay counted. */
  dismiss(worker: SupervisedWorker): void {
    worker.stop();
    this.#workers.delete(worker);
  }

  /** Crashes since the start by the name of the worker; those that never crashed are absent. */
  get crashes(): Readonly<Record<string, number>> {
    return { ...this.#crashes };
  }

  /** Names of workers that crashed and wait for their restart. */
  get down(): readonly string[] {
    return [...this.#workers].filter(({ isDown }) => isDown).map(({ name }) => name);
  }

  /** Restarts those of this name that wait for it, or all of them, now; answers how many. */
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

/** `fields` as in the input: what each line of the log names beside the worker. */
export const supervisedWorkers = (
  { time, log, chance, meter }: Pick<Ports, 'time' | 'log' | 'chance' | 'meter'>,
  policy: Policy,
  fields: object,
): SupervisedWorkers => new SupervisedWorkers({ time, log, meter, policy, fields, random: () => chance.random() });
