/** Keeps what is stored for webhooks within its bounds, and counts what had to be dropped. */
import { type EventType } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import { StorageFailure, type DeliveryStore, type Log, type Time } from '../ports.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../supervised-workers.ts';

/** What is dropped first is 0: what is stale soon or can be asked for again goes before what happened once, messages go last. */
const ranks: Readonly<Record<EventType, number>> = {
  presence: 0,
  history: 0,
  contacts: 1,
  chats: 1,
  labels: 1,
  chat_labels: 1,
  groups: 1,
  connection: 2,
  sender: 2,
  call: 2,
  messages_update: 2,
  newsletter_messages: 2,
  messages: 3,
};

/** Past deliveries are looked at once in so many rounds. */
const roundsPerForget = 6;

export interface SweeperHost {
  readonly deliveries: DeliveryStore;
  readonly time: Time;
  readonly log: Log;
  readonly policy: Pick<DeliveryPolicy, 'bounds' | 'kept' | 'sweepEvery'>;
  /** Rows of this webhook are gone that couriers may hold in memory. */
  trimmed(webhookId: string): void;
  readonly workers: SupervisedWorkers;
}

export type Dropped = Readonly<Record<string, number>>;

export class Sweeper {
  readonly #host: SweeperHost;
  readonly #dropped = new Map<string, Dropped>();
  #outstanding = { waiting: 0, parked: 0 };
  #timer: unknown = null;
  #rounds = 0;
  readonly #worker: SupervisedWorker;

  constructor(host: SweeperHost) {
    this.#host = host;
    this.#worker = host.workers.supervise({ name: 'sweeper', run: () => this.sweep() });
  }

  start(): void {
    const { time, policy } = this.#host;
    this.#timer = time.setTimeout(() => {
      this.start();
      this.#worker.wake();
    }, policy.sweepEvery);
  }

  stop(): void {
    this.#worker.stop();
    this.#host.time.clearTimeout(this.#timer);
  }

  /** Events that were dropped since the start, by type. */
  dropped(webhookId: string): Dropped {
    return this.#dropped.get(webhookId) ?? {};
  }

  /** Deliveries of all webhooks, as the last round found them. */
  get outstanding(): { readonly waiting: number; readonly parked: number } {
    return this.#outstanding;
  }

  /** One round. Rejects for a surprise only: storage that is away is asked again in the next round. */
  async sweep(): Promise<void> {
    const { deliveries, time, policy, log } = this.#host;
    const now = time.now();
    try {
      const tallies = await deliveries.tally(null);
      const sum = (of: 'waiting' | 'parked'): number => tallies.reduce((all, tally) => all + tally[of], 0);
      this.#outstanding = { waiting: sum('waiting'), parked: sum('parked') };
      for (const { webhookId, waiting, parked, bytes, oldest } of tallies) {
        const before = now - policy.bounds.age;
        if (waiting + parked > policy.bounds.rows || bytes > policy.bounds.bytes || oldest < before) await this.#trim(webhookId, before);
      }
      this.#rounds += 1;
      if (this.#rounds % roundsPerForget === 1)
        await deliveries.forget(policy.kept.rows, now - policy.kept.delivered, now - policy.kept.dead);
    } catch (error) {
      if (!(error instanceof StorageFailure)) throw error;
      log.warn({ error }, 'webhook.notSwept');
    }
  }

  async #trim(webhookId: string, before: number): Promise<void> {
    const { deliveries, policy, log, trimmed } = this.#host;
    const gone = await deliveries.trim(webhookId, { ...policy.bounds, before }, ranks);
    const sum: Record<string, number> = { ...this.dropped(webhookId) };
    for (const [type, count] of Object.entries(gone)) sum[type] = (sum[type] ?? 0) + count;
    this.#dropped.set(webhookId, sum);
    log.warn({ webhook: webhookId, dropped: gone }, 'webhook.dropped');
    trimmed(webhookId);
  }
}
