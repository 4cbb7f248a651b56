/** The root actor of one instance: asked, watched, and started anew when it throws. The way to close the link is handed in: a crash closes the link first. */
import { createActor, type Actor } from 'xstate';
import type { CourierView } from '../events/courier-host.ts';
import type { Status } from '../model.ts';
import type { Time } from '../ports.ts';
import { courierId, instance, isCourier, type InstanceEvent, type InstanceInput, type InstanceSnapshot } from './instance.ts';
import { statusOf, type LifecycleSnapshot } from './status.ts';

export interface RootActorInput {
  readonly id: string;
  readonly time: Time;
  readonly input: InstanceInput;
  /** Pause before a root that threw is started again, in milliseconds. */
  readonly restartAfter: number;
  /** The root threw: reports it and closes the link. Never rejects. */
  crashed(error: unknown): Promise<void>;
}

export class RootActor {
  readonly #input: RootActorInput;
  #actor: Actor<typeof instance>;
  #operations = 0;
  /** Operations under way. */
  #running = 0;
  #stopped = false;
  /** Runs while the root is down. */
  #restart: unknown = null;

  constructor(input: RootActorInput) {
    this.#input = input;
    this.#actor = this.#start();
  }

  get snapshot(): InstanceSnapshot {
    return this.#actor.getSnapshot();
  }

  /** The snapshot of the chart, null while it is being restarted or the instance is failed. */
  get lifecycle(): LifecycleSnapshot | null {
    const { status, children } = this.snapshot;
    const child = status === 'active' ? children['lifecycle'] : undefined;
    return child ? (child.getSnapshot() as LifecycleSnapshot) : null;
  }

  get status(): Status {
    return statusOf(this.snapshot.value, this.lifecycle);
  }

  /** A socket is being closed, or a device unlinked: commands wait until that is over. */
  get closing(): boolean {
    return this.snapshot.value === 'recovering' || (this.lifecycle?.hasTag('closing') ?? false);
  }

  /** Operations are under way. */
  get busy(): boolean {
    return this.#running > 0;
  }

  /** Operations under way. */
  get operations(): number {
    return this.#running;
  }

  /** Null when there is no courier for the webhook; `down` while it is being restarted. */
  courier(webhookId: string): CourierView | 'down' | null {
    let view: CourierView | 'down' | null = null;
    this.snapshot.children[courierId(webhookId)]?.send({
      type: 'delivery.asked',
      answer: (now: CourierView | null) => (view = now ?? 'down'),
    });
    return view;
  }

  /** Couriers send nothing more, and what they have under way is cut. */
  cutDeliveries(): void {
    for (const [id, child] of Object.entries(this.snapshot.children)) if (isCourier(id)) child?.send({ type: 'delivery.lost' });
  }

  /** Couriers forget the rows that they have in memory, and read what the outbox has now. What they have under way is cut. */
  renewCouriers(): void {
    for (const [id, child] of Object.entries(this.snapshot.children)) if (isCourier(id)) child?.send({ type: 'delivery.replaced' });
  }

  send(event: InstanceEvent): void {
    if (!this.#stopped && this.snapshot.status === 'active') this.#actor.send(event);
  }

  /**
   * Runs one platform request as the child `op.N` of the chart. Null when the state refuses it (not connected); else the promise of its answer,
   * which outlives the chart. The signal aborts when the session leaves `connected`.
   */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
    const n = (this.#operations += 1);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let taken = false;
    const run = async (signal: AbortSignal): Promise<void> => {
      taken = true;
      this.#running += 1;
      await Promise.try(task, signal).then(resolve, reject);
      this.#running -= 1;
    };
    // Straight to the chart: the root has nothing to add, and this is the path of every message.
    if (!this.#stopped) this.snapshot.children['lifecycle']?.send({ type: 'instance.request', n, run });
    return taken ? promise : null;
  }

  /** Resolves when `test` holds, at the latest after `ms` or with the end of the actor; says whether it holds. */
  waitFor(test: () => boolean, ms: number): Promise<boolean> {
    const { time } = this.#input;
    if (test() || this.#stopped) return Promise.resolve(test());
    return new Promise((resolve) => {
      const finish = (): void => {
        time.clearTimeout(timer);
        root.unsubscribe();
        child?.unsubscribe();
        resolve(test());
      };
      const check = (): void => {
        if (test()) finish();
      };
      const follow = (): { unsubscribe(): void } | undefined =>
        this.snapshot.children['lifecycle']?.subscribe({ next: check, error: () => undefined });
      const timer = time.setTimeout(finish, ms);
      let child = follow();
      const next = (): void => {
        child?.unsubscribe();
        child = follow();
        check();
      };
      const root = this.#actor.subscribe({ next, error: () => undefined, complete: finish });
    });
  }

  /** Nothing is left running, and no restart comes. */
  stop(): void {
    this.#stopped = true;
    this.#input.time.clearTimeout(this.#restart);
    this.#actor.stop();
  }

  #start(): Actor<typeof instance> {
    const { id, time, input } = this.#input;
    const actor = createActor(instance, { id, clock: time, input });
    actor.subscribe({ error: (error) => void this.#failed(error) });
    return actor.start();
  }

  /**
   * The root itself threw, which its table does not foresee. Its children live on by themselves then (xstate does not stop them), and a chart that
   * nobody supervises would open the link again.
   */
  async #failed(error: unknown): Promise<void> {
    const { time, crashed, restartAfter } = this.#input;
    for (const child of Object.values(this.snapshot.children)) child?.send({ type: 'xstate.stop' } as never);
    await crashed(error);
    if (!this.#stopped) this.#restart = time.setTimeout(() => (this.#actor = this.#start()), restartAfter);
  }
}
