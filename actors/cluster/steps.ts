/** Steps of an instance for somebody who looks on at any node: its own arrive as they are taken, those of another node are asked for now and then. */
import type { ActorDetail, Step, WatchEnd } from '../face/inspector.ts';
import type { InstanceId, Result } from '../model.ts';
import type { Log, Time } from '../ports.ts';

type StepWatcher = { onStep(step: Step): void } & WatchEnd;

export interface ClusterStepsInput {
  readonly time: Time;
  readonly log: Log;
  owns(id: InstanceId): boolean;
  /** Asks the owner. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Steps that this node takes, and the end of looking on. */
  watchHere(id: InstanceId, watcher: StepWatcher): () => void;
}

/** Milliseconds. A request to the owner each, for as long as somebody looks at the page of an instance on another node than its own. */
const askEvery = 1_000;

export class ClusterSteps {
  readonly #input: ClusterStepsInput;

  constructor(input: ClusterStepsInput) {
    this.#input = input;
  }

  watch(id: InstanceId, watcher: StepWatcher): () => void {
    const { time, log, owns, watchHere } = this.#input;
    let over = false;
    let timer: unknown = null;
    /** Number of the last step of the other node that was shown; null before anything was asked. After steps of this node those of the next owner are all new. */
    let last: number | null = null;
    const stop = (): void => {
      over = true;
      time.clearTimeout(timer);
    };
    const end = (): void => {
      stop();
      watcher.onEnd();
    };
    const look = async (): Promise<void> => {
      if (owns(id)) last = Infinity;
      else last = await this.#ask(id, last, (step) => over || watcher.onStep(step));
    };
    const turn = (): void => {
      if (over) return;
      look()
        .catch((error: unknown) => log.warn({ instance: id, error }, 'inspector.notFollowed'))
        .finally(() => void (timer = over ? null : time.setTimeout(turn, askEvery)));
    };
    const leave = watchHere(id, { onStep: (step) => watcher.onStep(step), onEnd: end });
    turn();
    return () => {
      stop();
      leave();
    };
  }

  /** Shows what is new; answers the number of the last step. Steps count from 1 anew with each owner. */
  async #ask(id: InstanceId, last: number | null, show: (step: Step) => void): Promise<number | null> {
    const answer = await this.#input.actor(id);
    if (!answer.ok || answer.value.lease?.answers !== true || this.#input.owns(id)) return last;
    const newest = answer.value.steps.at(-1)?.n ?? 0;
    if (last !== null) for (const step of answer.value.steps) if (newest < last || step.n > last) show(step);
    return newest;
  }
}
