/**
 * The root actor of one instance. This class sends events to the actor, waits for its states, and restarts it after a crash. The cell passes in the
 * function that closes the link, because the link must be closed before the restart.
 */
import { createActor, type Actor } from 'xstate';
import type { CourierView } from '../delivery/courier-host.ts';
import type { Status } from '../model.ts';
import type { Time } from '../ports.ts';
import { courierId, instance, isCourier, type InstanceEvent, type InstanceInput, type InstanceSnapshot } from './instance.ts';
import { statusOf, type LifecycleSnapshot } from './status.ts';

interface RootActorInput {
  readonly id: string;
  readonly time: Time;
  readonly input: InstanceInput;
  /** The pause before a crashed root restarts. In milliseconds. */
  readonly restartAfter: number;
  /** Reports that the root threw, and closes the link. Never rejects. */
  crashed(error: unknown): Promise<void>;
  /** Called after a restart. The new root has no couriers, and rows may wait in the outbox. */
  restarted(): void;
}

export class RootActor {
  readonly #input: RootActorInput;
  #actor: Actor<typeof instance>;
  /** The number of the last operation. */
  #lastOperation = 0;
  /** The number of operations under way. */
  #running = 0;
  #stopped = false;
  /** The timer of the next restart of a crashed root. */
  #restart: unknown = null;

  constructor(input: RootActorInput) {
    this.#input = input;
    this.#actor = this.#start();
  }

  get snapshot(): InstanceSnapshot {
    return this.#actor.getSnapshot();
  }

  /** The snapshot of the chart; null while the chart waits for its restart, or after too many crashes. */
  get lifecycle(): LifecycleSnapshot | null {
    const { status, children } = this.snapshot;
    const child = status === 'active' ? children['lifecycle'] : undefined;
    return child ? (child.getSnapshot() as LifecycleSnapshot) : null;
  }

  get status(): Status {
    return statusOf(this.snapshot.value, this.lifecycle);
  }

  /** True while a socket is being closed, a device unlinked, or credentials removed. Commands wait until the end of this work. */
  get closing(): boolean {
    return this.snapshot.value === 'recovering' || (this.lifecycle?.hasTag('closing') ?? false);
  }

  /** True if operations are under way. */
  get busy(): boolean {
    return this.#running > 0;
  }

  /** The number of operations under way. */
  get operations(): number {
    return this.#running;
  }

  /** Returns the view of the courier of a webhook. Returns null if there is no courier, and `down` while the courier waits for its restart. */
  courier(webhookId: string): CourierView | 'down' | null {
    let view: CourierView | 'down' | null = null;
    this.snapshot.children[courierId(webhookId)]?.send({
      type: 'delivery.asked',
      answer: (now: CourierView | null) => (view = now ?? 'down'),
    });
    return view;
  }

  /** Stops all couriers and cuts the posts under way. */
  cutDeliveries(): void {
    for (const [id, child] of Object.entries(this.snapshot.children)) if (isCourier(id)) child?.send({ type: 'delivery.lost' });
  }

  /** Makes all couriers drop their rows in memory and read the outbox again. Posts under way are cut. */
  renewCouriers(): void {
    for (const [id, child] of Object.entries(this.snapshot.children)) if (isCourier(id)) child?.send({ type: 'delivery.replaced' });
  }

  send(event: InstanceEvent): void {
    if (!this.#stopped && this.snapshot.status === 'active') this.#actor.send(event);
  }

  /**
   * Runs one platform request as the child `op.N` of the chart. Returns null if the session is not connected. Otherwise returns the promise of the answer. A
   * crash of the chart does not lose the answer. The signal aborts when the session leaves `connected`.
   */
  request<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
    const n = (this.#lastOperation += 1);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let taken = false;
    const run = async (signal: AbortSignal): Promise<void> => {
      taken = true;
      this.#running += 1;
      await Promise.try(task, signal).then(resolve, reject);
      this.#running -= 1;
    };
    // The event goes directly to the chart. The root has nothing to add, and every message takes this path.
    if (!this.#stopped) this.snapshot.children['lifecycle']?.send({ type: 'instance.request', n, run });
    return taken ? promise : null;
  }

  /** Resolves when `test` returns true, after `ms` milliseconds, or at the end of the actor. The result is the last value of `test`. */
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

  /** Stops the actor and cancels a restart. */
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
   * Handles an exception of the root machine itself. XState then leaves the children running. An unsupervised chart would open the link again, so all
   * children are stopped first.
   */
  async #failed(error: unknown): Promise<void> {
    const { time, crashed, restarted, restartAfter } = this.#input;
    for (const child of Object.values(this.snapshot.children)) child?.send({ type: 'xstate.stop' } as never);
    await crashed(error);
    if (this.#stopped) return;
    this.#restart = time.setTimeout(() => {
      this.#actor = this.#start();
      restarted();
    }, restartAfter);
  }
}
