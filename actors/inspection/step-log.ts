/**
 * Stores the last steps of every session in the background, so that the dashboard shows them after a restart. A kill loses the steps of the last
 * seconds. No code waits for this storage or depends on it.
 */
import type { Step } from '../views/inspector.ts';
import type { InstanceId, Status } from '../model.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import { StorageFailure, type Log, type StepStore, type Time } from '../ports.ts';
import { charts, edgeOf } from '../session/charts.ts';
import type { Steps } from '../session/steps.ts';
import { chartNames } from '../views/inspector.ts';
import { within } from '../waiting.ts';

/** The pause between two writes. In milliseconds. */
const everyMs = 10_000;
/** The largest number of stored steps of an instance: some 3 KB, which the database compresses. */
const kept = 30;
/** The number of instances per statement. */
const batchSize = 200;
/** The longest wait of a stop for the last write. In milliseconds. */
const lastRoundMs = 2_000;

type StoredStep = Omit<Step, 'n' | 'edge'>;

interface StepLogInput {
  readonly store: StepStore;
  readonly time: Time;
  readonly log: Log;
  readonly workers: SupervisedWorkers;
}

const stored = ({ at, chart, from, to, event, cause }: Step): StoredStep => ({ at, chart, from, to, event, cause });

const isKnown = (step: unknown): step is StoredStep => {
  const { at, chart, to, event } = (step ?? {}) as Partial<StoredStep>;
  return (
    typeof at === 'number' &&
    typeof event === 'string' &&
    chartNames.some((name) => name === chart && charts[name].states.some(({ id }) => id === to))
  );
};

/** States in which a session that is wanted online has no connection for long: a suspension of the account, and the cool-down after too many crashes. */
const restingStates: ReadonlySet<string> = new Set(['disconnected.suspended', 'failed']);

/**
 * Returns the status of a session that is wanted online, by the stored steps of its owner. These steps may lack the last seconds. An earlier owner may have
 * appended its last steps after those of the next owner, so the times decide.
 */
export const storedStatus = (steps: readonly unknown[]): Status => {
  const known = steps.filter(isKnown).filter(({ to }) => to !== 'running');
  const last = known.reduce<StoredStep | null>((latest, step) => (latest !== null && latest.at > step.at ? latest : step), null);
  if (last?.to === 'connected') return 'connected';
  return restingStates.has(last?.to ?? '') ? 'disconnected' : 'connecting';
};

export class StepLog {
  readonly #input: StepLogInput;
  readonly #worker: PeriodicWorker;
  /** Instances with steps that are not stored. */
  readonly #changed = new Map<InstanceId, Steps>();
  /** The number of the last stored step of each instance. */
  readonly #saved = new WeakMap<Steps, number>();

  constructor(input: StepLogInput) {
    this.#input = input;
    const { time, log, workers } = input;
    this.#worker = new PeriodicWorker({
      time,
      log,
      workers,
      name: 'stepLog',
      everyMs,
      unanswered: 'steps.notStored',
      run: async (pause) => {
        while (this.#changed.size > 0 && !pause.ended) await this.#storeSome();
      },
    });
  }

  start(): void {
    this.#worker.start();
  }

  /** Notes that the instance took a step. */
  moved(id: InstanceId, steps: Steps): void {
    this.#changed.set(id, steps);
  }

  /**
   * Returns the steps of earlier processes, before `first` (Unix milliseconds). The last of these steps has the number 0. Returns none if storage is
   * unavailable.
   */
  async before(id: InstanceId, first: number): Promise<readonly Step[]> {
    const steps = await this.#input.store.read(id).catch((error: unknown): readonly unknown[] => {
      if (error instanceof StorageFailure) return [];
      throw error;
    });
    // A damaged row may contain any value.
    const known = (Array.isArray(steps) ? steps : []).filter(isKnown).filter(({ at }) => at < first);
    return known.map((step, index) => {
      const edge = edgeOf(step.chart, step.from, step.to, step.event)?.id ?? `${step.from}>${step.to}`;
      return { ...step, edge, n: index + 1 - known.length };
    });
  }

  /** Stores the remaining steps, as far as storage answers. */
  async stop(): Promise<void> {
    this.#worker.stop();
    const rest = async (): Promise<void> => {
      while (this.#changed.size > 0) await this.#storeSome();
    };
    await within(this.#input.time, lastRoundMs, rest());
  }

  async #storeSome(): Promise<void> {
    const some = [...this.#changed].slice(0, batchSize);
    const batch = some.map(([instanceId, steps]) => {
      this.#changed.delete(instanceId);
      return { instanceId, steps: steps.after(Math.max(this.#saved.get(steps) ?? 0, steps.count - kept)).map(stored), upTo: steps.count };
    });
    try {
      await this.#input.store.append(batch, kept);
    } catch (error) {
      for (const [id, steps] of some) if (!this.#changed.has(id)) this.#changed.set(id, steps);
      throw error;
    }
    for (const [index, [, steps]] of some.entries()) this.#saved.set(steps, batch[index]?.upTo ?? 0);
  }
}
