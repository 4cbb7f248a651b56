/** The steps of an instance for a viewer on any node. Steps of this node arrive at once. Steps of another node are polled. */
import type { ActorDetail, Step, WatchEnd } from '../views/inspector.ts';
import type { InstanceId, Result } from '../model.ts';
import type { Log, Time } from '../ports.ts';

type StepWatcher = { onStep(step: Step): void } & WatchEnd;

export interface ClusterStepsInput {
  readonly time: Time;
  readonly log: Log;
  owns(id: InstanceId): boolean;
  /** Asks the owner for the state of an instance. */
  actor(id: InstanceId): Promise<Result<ActorDetail>>;
  /** Watches the steps that this node takes, and the end of the watch. */
  watchHere(id: InstanceId, watcher: StepWatcher): () => void;
}

/** Pause between two requests to the owner, while a person watches the page of an instance of another node. In milliseconds. */
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
    /**
     * Number of the last step of the other node that was shown; null before the first request. After steps of this node, all steps of the next owner
     * are new.
     */
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

  /** Shows new steps and returns the number of the last step. Each owner counts its steps from 1. */
  async #ask(id: InstanceId, last: number | null, show: (step: Step) => void): Promise<number | null> {
    const answer = await this.#input.actor(id);
    if (!answer.ok || answer.value.lease?.answers !== true || this.#input.owns(id)) return last;
    const newest = answer.value.steps.at(-1)?.n ?? 0;
    if (last !== null) for (const step of answer.value.steps) if (newest < last || step.n > last) show(step);
    return newest;
  }
}
