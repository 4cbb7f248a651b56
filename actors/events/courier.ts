/**
 * Delivers the events of one instance to one webhook (design, section 5).
 *
 * The outbox is the truth: what is in memory is a window on it, and every row lives there until a 2xx arrived. Quick attempts keep their lane
 * waiting, so that a chat stays in order; after those the row is parked in the outbox and its lane goes on.
 */
import type { Attempt, Envelope, Log, OutboxStore, Receiver, Signer, Time } from '../ports.ts';
import { EpochLost, StorageFailure } from '../ports.ts';
import type { Claim, Delivery, DeliveryError, EventSender, InstanceId, LastAttempt, Webhook } from '../model.ts';
import { between, type DeliveryPolicy } from '../policy/policy.ts';
import { Alarm } from './alarm.ts';
import type { Circuit } from './circuit.ts';
import { FinishedDeliveries } from './finished-deliveries.ts';
import { enveloped, WebhookRequests } from './webhook-request.ts';
import { stillWants } from './filter.ts';
import { createLanes } from './lanes.ts';
import type { Slots } from './slots.ts';
import { storageRetryMs } from '../waiting.ts';

/** What couriers share; no method throws. */
export interface CourierHost {
  readonly outbox: OutboxStore;
  readonly receiver: Receiver;
  readonly signer: Signer;
  readonly envelope: Envelope;
  /** Places that all couriers share. */
  readonly slots: Slots;
  readonly time: Time;
  readonly policy: DeliveryPolicy;
  readonly log: Log;
  random(): number;
  /** The configuration now; null when the webhook is gone. */
  webhook(id: string): Webhook | null;
  sender(instance: InstanceId): EventSender;
  /** Under which the instance's rows are written. */
  epoch(instance: InstanceId): number;
  /** Adds the record to the history, or updates the one of the same event. */
  failed(instance: InstanceId, webhook: Webhook, eventId: string, error: Omit<DeliveryError, 'url' | 'type' | 'created'>): void;
  /** The receiver answered 410: it wants no more. */
  disable(webhook: Webhook): void;
  /** The one of this webhook, whatever instance posts. */
  circuit(webhookId: string): Circuit;
}

export type CourierEvent =
  | { readonly type: 'delivery.added'; readonly rows: readonly Delivery[] }
  /** Another address or state may be right now. */
  | { readonly type: 'delivery.changed' }
  /** Rows of the outbox that may be in memory are gone. */
  | { readonly type: 'delivery.trimmed' };

export interface CourierInput {
  readonly host: CourierHost;
  readonly instanceId: InstanceId;
  readonly webhookId: string;
}

/** Before a courier looks whether another one's probe is over, in milliseconds. */
const probeLookMs = 1000;

type Failure = Attempt & { readonly ok: false };

/** `crashed` hears of a surprise, after which it does nothing more. */
export class Courier {
  readonly #input: CourierInput;
  readonly #host: CourierHost;
  readonly #crashed: (error: unknown) => void;
  readonly #lanes = createLanes();
  /** Quick retries that wait. */
  readonly #timers = new Set<unknown>();
  /** A parked row is due. */
  readonly #due: Alarm;
  /** The circuit lets a probe through. */
  readonly #probe: Alarm;
  readonly #over: FinishedDeliveries;
  readonly #circuit: Circuit;
  /** Rows that left memory, or the outbox, while a page is read: the page may hold them as they were. */
  readonly #left = new Set<number>();
  /** Rows wait in the outbox that are not in memory. */
  #behind = true;
  #loading = false;
  /** Rows were committed while a page was read: they may be in neither. */
  #missed = false;
  #stopped = false;
  readonly #requests: WebhookRequests;
  /** The last address, taken apart. */
  #known = { url: '', host: '' };

  constructor(input: CourierInput, crashed: (error: unknown) => void) {
    this.#input = input;
    this.#host = input.host;
    this.#crashed = crashed;
    this.#requests = new WebhookRequests(input.host);
    this.#circuit = input.host.circuit(input.webhookId);
    this.#over = new FinishedDeliveries(input.host.outbox, input.host.policy, () => this.#claim);
    this.#due = new Alarm(input.host.time, () => this.#readMore());
    this.#probe = new Alarm(input.host.time, () => this.#pump());
  }

  tell(event: CourierEvent): void {
    try {
      if (event.type === 'delivery.added') this.add(event.rows);
      else if (event.type === 'delivery.changed') this.changed();
      else this.#readAgain();
    } catch (error) {
      this.#crash(error);
    }
  }

  add(rows: readonly Delivery[]): void {
    if (rows.length === 0 || this.#lanes.size >= this.#host.policy.inMemory) this.#behind = true;
    if (this.#loading) this.#missed = true;
    else if (!this.#behind) for (const row of rows) this.#lanes.add(row);
    this.#pump();
  }

  /** What waits is read again, and the receiver gets a fresh chance. */
  changed(): void {
    this.#circuit.reset();
    this.#readAgain();
  }

  stop(): void {
    this.#stopped = true;
    for (const id of this.#timers) this.#host.time.clearTimeout(id);
    this.#due.clear();
    this.#probe.clear();
    this.#timers.clear();
  }

  get #claim(): Claim {
    const { instanceId, host } = this.#input;
    return { instanceId, epoch: host.epoch(instanceId) };
  }

  /** Rows in memory. */
  get waiting(): number {
    return this.#lanes.size;
  }

  #readAgain(): void {
    this.#lanes.clear();
    this.#missed = true;
    this.#readMore();
  }

  #readMore(): void {
    this.#behind = true;
    this.#pump();
  }

  #later(ms: number, fn: () => void): void {
    const id = this.#host.time.setTimeout(() => {
      this.#timers.delete(id);
      if (!this.#stopped) fn();
    }, ms);
    this.#timers.add(id);
  }

  #crash(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#crashed(error);
  }

  /** Runs what nobody awaits. Storage that is away is tried again; a former owner stops, since the rows are the next owner's; the rest is a crash. */
  #run(task: () => Promise<void>, again: () => void): void {
    task().catch((error: unknown) => {
      if (this.#stopped) return;
      if (error instanceof StorageFailure) return this.#later(storageRetryMs, again);
      if (error instanceof EpochLost) return this.stop();
      this.#crash(error);
    });
  }

  #load(): void {
    if (this.#loading || this.#stopped || this.#lanes.size > this.#host.policy.inMemory / 2) return;
    this.#loading = true;
    this.#missed = false;
    this.#run(
      () => this.#readPage(),
      () => this.#load(),
    );
  }

  #leave(seq: number): void {
    if (this.#loading) this.#left.add(seq);
  }

  async #readPage(): Promise<void> {
    const { outbox, time, policy } = this.#host;
    const { webhookId, instanceId } = this.#input;
    let added = 0;
    try {
      const { rows, more } = await outbox.due(webhookId, instanceId, time.now(), { rows: policy.inMemory, bytes: policy.inMemoryBytes });
      const next = more ? null : await outbox.nextDue(webhookId, instanceId);
      for (const row of rows) if (!this.#over.has(row.seq) && !this.#left.has(row.seq) && this.#take(row)) added += 1;
      this.#behind = more || this.#missed;
      // A row that is due already is on this page and under way; it hides those after it until it is gone.
      if (next !== null && !this.#stopped) this.#due.set(Math.max(next, time.now() + storageRetryMs));
    } finally {
      this.#loading = false;
      this.#left.clear();
    }
    // A full page of rows that are all being taken out brings nothing: the next look is when they are gone.
    if (added > 0 || this.#missed) this.#pump();
  }

  /** A row of an earlier time: the webhook may not want it any more. */
  #take(row: Delivery): boolean {
    const webhook = this.#host.webhook(row.webhookId);
    if (!webhook || stillWants(webhook, row)) return this.#lanes.add(row);
    this.#over.add(row.seq, null);
    this.#flush();
    return false;
  }

  #finish(row: Delivery, { attempts, status, error }: LastAttempt, dead: boolean): void {
    this.#over.add(row.seq, { seq: row.seq, attempts, status, error, dead, endedAt: this.#host.time.now() });
    this.#flush();
  }

  #flush(): void {
    if (this.#stopped || !this.#over.waiting) return;
    this.#run(
      async () => {
        for (const seq of await this.#over.takeOut()) this.#leave(seq);
        this.#flush();
        this.#pump();
      },
      () => this.#flush(),
    );
  }

  #pump(): void {
    if (this.#sending() === null) return;
    if (this.#circuit.until > this.#host.time.now()) return this.#probe.set(this.#circuit.until);
    const limit = this.#circuit.lanes;
    while (this.#lanes.underWay < limit) {
      const row = this.#lanes.take();
      if (!row) break;
      if (this.#circuit.admit(row.seq)) this.#attempt(row);
      else return this.#standBack(row);
    }
    if (this.#behind && this.#lanes.underWay < limit) this.#load();
  }

  /** Another courier probes: what comes of it is seen soon. */
  #standBack(row: Delivery): void {
    this.#lanes.putBack(row);
    this.#probe.set(this.#host.time.now() + probeLookMs);
  }

  /** The webhook, while anything may be sent to it. */
  #sending(): Webhook | null {
    const webhook = this.#stopped ? null : this.#host.webhook(this.#input.webhookId);
    return webhook?.enabled ? webhook : null;
  }

  /** One attempt, when there is a place for it. Its lane is taken until the row is done or goes back. */
  #attempt(row: Delivery): void {
    const host = this.#hostOf(this.#sending()?.url ?? '');
    const turn = this.#host.slots.take(host);
    if (turn === null) this.#post(row, host);
    else void turn.then(() => this.#post(row, host));
  }

  /** Nothing may be sent any more: the row stays in the outbox. */
  #post(row: Delivery, host: string): void {
    const { slots } = this.#host;
    const webhook = this.#sending();
    if (webhook === null) {
      slots.free(host);
      this.#circuit.forgo(row.seq);
      return this.#done(row);
    }
    this.#send(row, webhook).then(
      (outcome) => {
        slots.free(host);
        this.#judge(row, webhook, outcome);
      },
      (error: unknown) => {
        slots.free(host);
        this.#circuit.forgo(row.seq);
        this.#crash(error);
      },
    );
  }

  async #send(row: Delivery, webhook: Webhook): Promise<Attempt> {
    const { time, receiver, log } = this.#host;
    const { instanceId } = this.#input;
    const started = time.now();
    const { url, body, headers } = this.#requests.of(webhook, this.#host.sender(instanceId), row, started);
    const outcome = await receiver.post(url, body, headers);
    const fields = { instance: instanceId, webhook: webhook.id, event: row.type, attempt: row.attempts + 1, status: outcome.status };
    log[outcome.ok ? 'debug' : 'info']({ ...fields, ms: time.now() - started }, 'webhook.attempted');
    return outcome;
  }

  /** Nearly every attempt succeeds and needs no more than this. */
  #judge(row: Delivery, webhook: Webhook, outcome: Attempt): void {
    try {
      this.#circuit.judge(row.seq, outcome, this.#host.time.now());
      const attempts = row.attempts + 1;
      if (!outcome.ok) {
        const tried = { ...row, attempts };
        return this.#run(
          () => this.#failed(tried, webhook, outcome),
          () => this.#readAgain(),
        );
      }
      this.#finish(row, { attempts, status: outcome.status, error: '' }, false);
      this.#done(row);
    } catch (error) {
      this.#crash(error);
    }
  }

  /** The row is tried again soon, goes back to the head of its lane while the circuit is open, is parked, or given up. */
  async #failed(row: Delivery, webhook: Webhook, outcome: Failure): Promise<void> {
    const { policy, time } = this.#host;
    const { attempts } = row;
    const last = { attempts, status: outcome.status ?? 0, error: outcome.error };
    const isGone = outcome.status === 410;
    const isQuick = attempts < policy.quick.length;
    if (isGone || !isQuick) this.#report(row, webhook, outcome);
    const delay = isGone ? null : this.#delayAfter(attempts, outcome);
    if (isQuick && delay !== null) {
      if (this.#circuit.until > time.now()) return this.#putBack(row);
      const again = (): boolean => this.#circuit.until <= time.now() && this.#circuit.admit(row.seq);
      return this.#later(delay, () => (again() ? this.#attempt(row) : this.#putBack(row)));
    }
    try {
      if (isGone) this.#host.disable(webhook);
      else if (delay === null) this.#finish(row, last, true);
      else await this.#park(row, delay, last);
    } finally {
      this.#done(row);
    }
  }

  #putBack(row: Delivery): void {
    this.#lanes.putBack(row);
    this.#pump();
  }

  #done(row: Delivery): void {
    this.#lanes.finish(row);
    this.#leave(row.seq);
    this.#pump();
  }

  #hostOf(url: string): string {
    if (this.#known.url !== url) this.#known = { url, host: URL.parse(url)?.host ?? '' };
    return this.#known.host;
  }

  /** The pause before the next attempt in milliseconds, or null when the row has no more. */
  #delayAfter(attempts: number, outcome: Failure): number | null {
    const { quick, slow, retryAfterMax } = this.#host.policy;
    const base = attempts < quick.length ? quick[attempts] : slow[attempts - quick.length];
    if (base === undefined) return null;
    const asked = Math.min((outcome.retryAfter ?? 0) * 1000, retryAfterMax);
    return Math.max(asked, between(base * 0.8, base * 1.2, this.#host.random()));
  }

  async #park(row: Delivery, delay: number, last: LastAttempt): Promise<void> {
    const notBefore = this.#host.time.now() + delay;
    await this.#host.outbox.postpone({ seq: row.seq, ...this.#claim }, notBefore, last);
    if (!this.#stopped) this.#due.set(notBefore);
  }

  #report(row: Delivery, webhook: Webhook, outcome: Failure): void {
    this.#host.failed(this.#input.instanceId, webhook, row.eventId, {
      event: row.type,
      messageType: row.messageType,
      statusCode: outcome.status ?? null,
      attempts: row.attempts,
      error: outcome.error,
      payload: JSON.parse(enveloped(this.#host.envelope, this.#host.sender(this.#input.instanceId), row)) as unknown,
    });
  }
}
