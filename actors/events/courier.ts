/**
 * The actor that delivers the events of one instance to one webhook (design, section 5).
 *
 * The outbox is the truth: what is in memory is a window on it, and every row lives there until a 2xx arrived. Quick attempts keep their lane
 * waiting, so that a chat stays in order; after those the row is parked in the outbox and its lane goes on.
 */
import { fromCallback } from 'xstate';
import type { Attempt, Ended, Log, OutboxStore, Receiver, Signer, Time } from '../ports.ts';
import type { Delivery, DeliveryError, InstanceId, LastAttempt, Webhook } from '../model.ts';
import { between, type DeliveryPolicy } from '../policy/policy.ts';
import { Circuit } from './circuit.ts';
import { envelope, letterOf, type Sender } from './envelope.ts';
import { stillWants } from './filter.ts';
import { createLanes } from './lanes.ts';
import type { Slots } from './slots.ts';

/** What couriers share; no method throws. */
export interface CourierHost {
  readonly outbox: OutboxStore;
  readonly receiver: Receiver;
  readonly signer: Signer;
  /** Places that all couriers share. */
  readonly slots: Slots;
  readonly time: Time;
  readonly policy: DeliveryPolicy;
  readonly log: Log;
  random(): number;
  /** The configuration now; null when the webhook is gone. */
  webhook(id: string): Webhook | null;
  sender(instance: InstanceId): Sender;
  /** Adds the record to the history, or updates the one of the same event. */
  failed(instance: InstanceId, webhook: Webhook, eventId: string, error: Omit<DeliveryError, 'url' | 'type' | 'created'>): void;
  /** The receiver answered 410: it wants no more. */
  disable(webhook: Webhook): void;
  /** Nothing is sent before this moment; one that is past ends the pause. */
  paused(instance: InstanceId, webhookId: string, until: number): void;
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

/** Said by a courier that met a surprise; it does nothing more, its rows are safe in the outbox. */
export interface CourierCrash {
  readonly type: 'delivery.crashed';
  readonly webhookId: string;
  readonly error: unknown;
}

export const courier = fromCallback<CourierEvent, CourierInput>(({ receive, input, sendBack }) => {
  const work = new Courier(input, (error) =>
    sendBack({ type: 'delivery.crashed', webhookId: input.webhookId, error } satisfies CourierCrash),
  );
  receive((event) => work.tell(event));
  return () => work.stop();
});

/** Before storage is asked again, in milliseconds. */
const storageRetryMs = 1000;

type Failure = Attempt & { readonly ok: false };

/** The courier without its actor. `crashed` hears of a surprise, after which it does nothing more. */
export class Courier {
  readonly #input: CourierInput;
  readonly #host: CourierHost;
  readonly #crashed: (error: unknown) => void;
  readonly #lanes = createLanes();
  /** Quick retries that wait. */
  readonly #timers = new Set<unknown>();
  /** Rings when a parked row is due, or when the circuit lets a probe through. */
  readonly #alarms = { due: { at: 0, id: null as unknown }, probe: { at: 0, id: null as unknown } };
  /** Delivered, given up, or (null) not wanted any more; still to be taken out of the outbox. */
  readonly #finished = new Map<number, Ended | null>();
  readonly #circuit: Circuit;
  /** Rows that left memory, or the outbox, while a page is read: the page may hold them as they were. */
  readonly #left = new Set<number>();
  /** Rows wait in the outbox that are not in memory. */
  #behind = true;
  #loading = false;
  /** Rows were committed while a page was read: they may be in neither. */
  #missed = false;
  #flushing = false;
  #stopped = false;
  /** The last address, taken apart. */
  #known = { url: '', host: '' };

  constructor(input: CourierInput, crashed: (error: unknown) => void) {
    this.#input = input;
    this.#host = input.host;
    this.#crashed = crashed;
    this.#circuit = new Circuit(input.host.policy);
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
    this.#tellPause();
    this.#readAgain();
  }

  stop(): void {
    this.#stopped = true;
    for (const id of this.#timers) this.#host.time.clearTimeout(id);
    for (const { id } of Object.values(this.#alarms)) this.#host.time.clearTimeout(id);
    this.#timers.clear();
  }

  /** Rows in memory. */
  get waiting(): number {
    return this.#lanes.size;
  }

  #readAgain(): void {
    this.#lanes.clear();
    this.#behind = true;
    this.#missed = true;
    this.#pump();
  }

  #tellPause(): void {
    this.#host.paused(this.#input.instanceId, this.#input.webhookId, this.#circuit.until);
  }

  #later(ms: number, fn: () => void): void {
    const id = this.#host.time.setTimeout(() => {
      this.#timers.delete(id);
      if (!this.#stopped) fn();
    }, ms);
    this.#timers.add(id);
  }

  /** One timer for each purpose: the earlier moment wins. */
  #wakeBy(name: 'due' | 'probe', at: number): void {
    const { time } = this.#host;
    const alarm = this.#alarms[name];
    if (this.#stopped || (alarm.id !== null && alarm.at <= at)) return;
    time.clearTimeout(alarm.id);
    alarm.at = at;
    alarm.id = time.setTimeout(
      () => {
        alarm.id = null;
        this.#behind ||= name === 'due';
        this.#pump();
      },
      Math.max(1, at - time.now()),
    );
  }

  #crash(error: unknown): void {
    this.stop();
    this.#crashed(error);
  }

  /** Runs what nobody awaits: storage that is away is tried again, anything else is a crash. */
  #run(task: () => Promise<void>, again: () => void): void {
    task().catch((error: unknown) => {
      if (this.#stopped) return;
      if (error instanceof Error && error.name === 'StorageUnavailable') return this.#later(storageRetryMs, again);
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
      const rows = await outbox.due(webhookId, instanceId, 0, time.now(), policy.inMemory);
      const full = rows.length >= policy.inMemory;
      const next = full ? null : await outbox.nextDue(webhookId, instanceId);
      for (const row of rows) if (!this.#finished.has(row.seq) && !this.#left.has(row.seq) && this.#take(row)) added += 1;
      this.#behind = full || this.#missed;
      // A row that is due already is on this page and under way; it hides those after it until it is gone.
      if (next !== null) this.#wakeBy('due', Math.max(next, time.now() + storageRetryMs));
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
    this.#finished.set(row.seq, null);
    this.#flush();
    return false;
  }

  #finish(row: Delivery, last: LastAttempt, dead: boolean): null {
    this.#finished.set(row.seq, { seq: row.seq, ...last, dead, endedAt: this.#host.time.now() });
    this.#flush();
    return null;
  }

  /** One statement takes out all that was finished while the one before was under way. */
  #flush(): void {
    if (this.#flushing || this.#stopped || this.#finished.size === 0) return;
    this.#flushing = true;
    this.#run(
      async () => {
        const now = [...this.#finished];
        try {
          await this.#takeOut(now);
          for (const [seq] of now) {
            this.#finished.delete(seq);
            this.#leave(seq);
          }
        } finally {
          this.#flushing = false;
        }
        this.#flush();
        this.#pump();
      },
      () => this.#flush(),
    );
  }

  async #takeOut(finished: readonly (readonly [number, Ended | null])[]): Promise<void> {
    const { outbox, policy } = this.#host;
    const isKept = (ended: Ended | null): ended is Ended => ended !== null && policy.kept[ended.dead ? 'dead' : 'delivered'] > 0;
    await outbox.archive(finished.map(([, ended]) => ended).filter(isKept));
    await outbox.remove(finished.filter(([, ended]) => !isKept(ended)).map(([seq]) => seq));
  }

  #pump(): void {
    if (this.#stopped || !this.#host.webhook(this.#input.webhookId)?.enabled) return;
    if (this.#circuit.until > this.#host.time.now()) return this.#wakeBy('probe', this.#circuit.until);
    const limit = this.#circuit.lanes;
    while (this.#lanes.underWay < limit) {
      const row = this.#lanes.take();
      if (!row) break;
      this.#run(
        () => this.#work(row),
        () => this.changed(),
      );
    }
    if (this.#behind && this.#lanes.underWay < limit) this.#load();
  }

  async #work(row: Delivery): Promise<void> {
    let rest: Delivery | null = null;
    try {
      rest = await this.#deliver(row);
    } finally {
      if (rest) this.#lanes.putBack(rest);
      else {
        this.#lanes.finish(row);
        this.#leave(row.seq);
      }
    }
    this.#pump();
  }

  /** One row until it is delivered, parked or given up (null), or until the circuit opens: then it goes back to the head of its lane. */
  async #deliver(first: Delivery): Promise<Delivery | null> {
    const { policy, time } = this.#host;
    let row = first;
    for (;;) {
      const tried = await this.#attemptInTurn(row);
      if (!tried) return null;
      const { webhook, outcome } = tried;
      this.#circuit.judge(outcome, time.now());
      this.#tellPause();
      const attempts = row.attempts + 1;
      if (outcome.ok) return this.#finish(row, { attempts, status: outcome.status, error: '' }, false);
      row = { ...row, attempts };
      const last = { attempts, status: outcome.status ?? 0, error: outcome.error };
      const isGone = outcome.status === 410;
      const isQuick = attempts < policy.quick.length;
      if (isGone || !isQuick) this.#report(row, webhook, outcome);
      if (isGone) return this.#disable(webhook);
      const delay = this.#delayAfter(attempts, outcome);
      if (delay === null) return this.#finish(row, last, true);
      if (!isQuick) return this.#park(row, delay, last);
      if (this.#circuit.until > time.now()) return row;
      await new Promise<void>((resolve) => this.#later(delay, resolve));
      if (this.#circuit.until > time.now()) return row;
    }
  }

  #disable(webhook: Webhook): null {
    this.#host.disable(webhook);
    return null;
  }

  /** One attempt when there is a place for it; null when nothing may be sent any more. */
  async #attemptInTurn(row: Delivery): Promise<{ readonly webhook: Webhook; readonly outcome: Attempt } | null> {
    const { slots } = this.#host;
    const webhookNow = (): Webhook | null => {
      const webhook = this.#stopped ? null : this.#host.webhook(this.#input.webhookId);
      return webhook?.enabled ? webhook : null;
    };
    const host = this.#hostOf(webhookNow()?.url ?? '');
    const turn = slots.take(host);
    if (turn) await turn;
    try {
      const webhook = webhookNow();
      return webhook && { webhook, outcome: await this.#attempt(row, webhook) };
    } finally {
      slots.free(host);
    }
  }

  #hostOf(url: string): string {
    if (this.#known.url !== url) this.#known = { url, host: URL.parse(url)?.host ?? '' };
    return this.#known.host;
  }

  async #attempt(row: Delivery, webhook: Webhook): Promise<Attempt> {
    const { time, receiver, signer, log } = this.#host;
    const { instanceId } = this.#input;
    const started = time.now();
    const { url, body, headers } = letterOf(webhook, this.#host.sender(instanceId), row, started, signer);
    const outcome = await receiver.post(url, body, headers);
    const fields = { instance: instanceId, webhook: webhook.id, event: row.type, attempt: row.attempts + 1, status: outcome.status };
    log[outcome.ok ? 'debug' : 'info']({ ...fields, ms: time.now() - started }, 'webhook.attempted');
    return outcome;
  }

  /** The pause before the next attempt in milliseconds, or null when the row has no more. */
  #delayAfter(attempts: number, outcome: Failure): number | null {
    const { quick, slow, retryAfterMax } = this.#host.policy;
    const base = attempts < quick.length ? quick[attempts] : slow[attempts - quick.length];
    if (base === undefined) return null;
    const asked = Math.min((outcome.retryAfter ?? 0) * 1000, retryAfterMax);
    return Math.max(asked, between(base * 0.8, base * 1.2, this.#host.random()));
  }

  async #park(row: Delivery, delay: number, last: LastAttempt): Promise<null> {
    const notBefore = this.#host.time.now() + delay;
    await this.#host.outbox.postpone(row.seq, notBefore, last);
    this.#wakeBy('due', notBefore);
    return null;
  }

  #report(row: Delivery, webhook: Webhook, outcome: Failure): void {
    this.#host.failed(this.#input.instanceId, webhook, row.eventId, {
      event: row.type,
      messageType: row.messageType,
      statusCode: outcome.status ?? null,
      attempts: row.attempts,
      error: outcome.error,
      payload: JSON.parse(envelope(this.#host.sender(this.#input.instanceId), row)) as unknown,
    });
  }
}
