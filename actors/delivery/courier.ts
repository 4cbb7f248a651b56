/**
 * Delivers the events of one instance to one webhook. The courier takes rows from its window on the outbox and posts different lanes concurrently. A
 * failed row holds its lane until the row is delivered or given up, so that a chat stays in order. After the quick retries the row waits in the
 * outbox, not in memory.
 */
import { EpochLost, StorageFailure, type Attempt, type Cuts } from '../ports.ts';
import type { Claim, Delivery, LastAttempt, Webhook } from '../model.ts';
import { storageRetryMs } from '../waiting.ts';
import { Alarm } from './alarm.ts';
import { type Circuit, type FailedAttempt, stepAfter } from './receiver-health.ts';
import { lastOf, withTry } from './tries.ts';
import type { CourierEvent, CourierHost, CourierInput, CourierView } from './courier-host.ts';
import { stillWants } from './webhook-config.ts';
import { OutboxWindow } from './outbox-window.ts';
import { enveloped, WebhookRequests } from './webhook-request.ts';

/** The pause before a courier checks whether the probe of another courier has ended. In milliseconds. */
const probeLookMs = 1000;
/** The pause before a courier checks whether this process may post for the instance again, for example after a doubt about its lease. In milliseconds. */
const leaseLookMs = 1000;

/** One attempt, which never rejects. */
type Sending = () => Promise<Attempt>;

export class Courier {
  readonly #input: CourierInput;
  readonly #host: CourierHost;
  readonly #crashed: (error: unknown) => void;
  readonly #window: OutboxWindow;
  readonly #circuit: Circuit;
  readonly #requests: WebhookRequests;
  /** Timers of quick retries and of retries of storage. */
  readonly #timers = new Set<unknown>();
  /** The time of the next early retry of held lanes, by the monotonic clock; 0 if the last attempt succeeded, or if no lane is held. */
  #earlyAt = 0;
  /** Fires when the circuit lets a probe through, when an early retry of held lanes is due, or when the lease of the instance is checked again. */
  readonly #probe: Alarm;
  /** The number of posts under way. */
  #posting = 0;
  /** The number of recoveries of the receiver that the window was told about. */
  #recoveries: number;
  readonly #cuts: Cuts = new Set();
  #isStopped = false;
  #isPumping = false;
  #isPumpWanted = false;
  /** The last address with its host, cached because parsing is slow. */
  #address = { url: '', host: '' };

  /** Takes a callback for an unexpected error. The courier calls the callback at most once, and does nothing afterwards. */
  constructor(input: CourierInput, crashed: (error: unknown) => void) {
    this.#input = input;
    this.#host = input.host;
    this.#crashed = crashed;
    this.#requests = new WebhookRequests(input.host);
    this.#circuit = input.host.circuit(input.webhookId);
    this.#recoveries = this.#circuit.recoveries;
    this.#probe = new Alarm(
      input.host.time,
      () => this.#pump(),
      () => input.host.time.monotonic(),
    );
    const { outbox, time, policy } = input.host;
    this.#window = new OutboxWindow({
      outbox,
      time,
      policy,
      webhookId: input.webhookId,
      instanceId: input.instanceId,
      claim: () => this.#claim,
      wants: (row) => this.#wants(row),
      changed: () => this.#pump(),
      run: (task, again) => this.#run(task, again),
    });
  }

  /** Handles an event. Never throws. */
  handle(event: CourierEvent): void {
    this.#guard(() => {
      if (event.type === 'delivery.asked') return event.answer(this.view);
      if (event.type === 'delivery.lost') return this.stop();
      if (event.type === 'delivery.added') return this.#window.add(event.rows);
      // Closes the circuit, because the new configuration may have removed the cause of the failures.
      if (event.type === 'delivery.changed') {
        this.#circuit.reset();
        this.#window.readEarly();
      }
      this.#window.readAgain();
    });
  }

  /** Stops the courier and cuts its posts. Their rows stay in the outbox for the next reader. Idempotent. */
  stop(): void {
    this.#isStopped = true;
    for (const cut of this.#cuts) cut();
    for (const id of this.#timers) this.#host.time.clearTimeout(id);
    this.#timers.clear();
    this.#probe.clear();
    this.#window.stop();
  }

  /** The number of rows in memory. */
  get waiting(): number {
    return this.#window.size;
  }

  get view(): CourierView {
    const lanes = { used: this.#window.underWay, of: this.#circuit.lanes };
    const isQuiet = this.#posting === 0 && this.#window.isClean;
    return { waiting: this.#window.size, isBehind: this.#window.isBehind, lanes, isQuiet };
  }

  get #claim(): Claim {
    const { instanceId, host } = this.#input;
    return { instanceId, epoch: host.epoch(instanceId) };
  }

  /** Runs the work of an event, a timer or a finished post, so that an exception crashes only this courier. */
  #guard(fn: () => void): void {
    try {
      if (!this.#isStopped) fn();
    } catch (error) {
      this.#crash(error);
    }
  }

  #crash(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#crashed(error);
  }

  #later(ms: number, fn: () => void): void {
    const id = this.#host.time.setTimeout(() => {
      this.#timers.delete(id);
      this.#guard(fn);
    }, ms);
    this.#timers.add(id);
  }

  /**
   * Runs a task on the storage. A storage failure is retried. A lost epoch stops the courier, since the rows belong to the next owner. Any other
   * error is a crash.
   */
  #run(task: () => Promise<void>, again: () => void): void {
    task().catch((error: unknown) => {
      if (this.#isStopped) return;
      if (error instanceof StorageFailure) return this.#later(storageRetryMs, again);
      if (error instanceof EpochLost) return this.stop();
      this.#crash(error);
    });
  }

  /** Returns the webhook; null if nothing may be posted to the webhook now. */
  #receiving(): Webhook | null {
    const { host, instanceId, webhookId } = this.#input;
    const webhook = this.#isStopped || !host.owns(instanceId) ? null : host.webhook(webhookId);
    // Without the secret and the headers, a receiver would refuse the posts or treat them as forged.
    return webhook?.enabled && webhook.unreadable === undefined ? webhook : null;
  }

  /** Returns true if the webhook still wants the row. Also returns true if the body cannot be parsed, because the attempt reports this fault. */
  #wants(row: Delivery): boolean {
    const webhook = this.#host.webhook(row.webhookId);
    try {
      return webhook === null || stillWants(webhook, row);
    } catch {
      return true;
    }
  }

  /**
   * Starts attempts. Called when a lane may be free, or when rows may have been added. A nested call, for example after an event was set aside, makes the outer
   * call repeat its loop.
   */
  #pump(): void {
    this.#isPumpWanted = true;
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#isPumpWanted) {
      this.#isPumpWanted = false;
      this.#guard(() => this.#beginAttempts());
    }
    this.#isPumping = false;
  }

  /** Starts as many attempts as the circuit allows. If no row is left, the window reads more. */
  #beginAttempts(): void {
    if (!this.#host.owns(this.#input.instanceId)) return this.#probe.set(this.#host.time.monotonic() + leaseLookMs);
    if (this.#receiving() === null) return;
    if (this.#circuit.until > this.#host.time.monotonic()) return this.#probe.set(this.#circuit.until);
    if (this.#recoveries !== this.#circuit.recoveries) this.#window.recovered();
    this.#recoveries = this.#circuit.recoveries;
    const limit = this.#circuit.lanes;
    while (this.#window.underWay < limit) {
      const row = this.#window.take();
      if (!row) break;
      if (!this.#circuit.admit(row.seq)) return this.#waitForProbe(row);
      this.#attempt(row);
    }
    if (this.#window.underWay >= limit) return;
    this.#tryHeld();
    this.#window.fill();
  }

  /**
   * Retries the parked rows of held lanes early, if the last attempt at the receiver failed. Each probe of an open circuit is an early retry. With a closed
   * circuit, the time between early retries is the longest pause between probes. Without early retries, a single chat would wait for hours although its
   * receiver works again. A success ends these retries, because the window tries the held lanes after each recovery.
   */
  #tryHeld(): void {
    const { failures, isOpen } = this.#circuit;
    if (failures === 0 || !this.#window.isHolding) {
      this.#earlyAt = 0;
      return this.#probe.clear();
    }
    const { time, policy } = this.#host;
    const isTime = isOpen || (this.#earlyAt > 0 && this.#earlyAt <= time.monotonic());
    if (isTime) this.#window.readEarly();
    if (isTime || this.#earlyAt === 0) this.#earlyAt = time.monotonic() + policy.circuit.max;
    this.#probe.set(this.#earlyAt);
  }

  /** Puts the row back, because another courier of the webhook probes. The outcome of the probe is known soon. */
  #waitForProbe(row: Delivery): void {
    this.#window.putBack(row);
    this.#probe.set(this.#host.time.monotonic() + probeLookMs);
  }

  #putBack(row: Delivery): void {
    this.#window.putBack(row);
    this.#pump();
  }

  /** Makes one attempt when a slot is free. The lane is busy until the row is finished or put back. */
  #attempt(row: Delivery): void {
    const host = this.#hostOf(this.#receiving()?.url ?? '');
    const { instanceId } = this.#input;
    const free = (): void => this.#host.slots.free(host, instanceId);
    const slot = this.#host.slots.take(host, instanceId);
    if (slot === null) this.#post(row, free);
    else void slot.then(() => this.#post(row, free));
  }

  #hostOf(url: string): string {
    if (this.#address.url !== url) this.#address = { url, host: URL.parse(url)?.host ?? '' };
    return this.#address.host;
  }

  /** Posts a row. The call to `free` releases the slot exactly once on every path. */
  #post(row: Delivery, free: () => void): void {
    const webhook = this.#receiving();
    const send = webhook && this.#sendingOf(row, webhook);
    if (!send) {
      free();
      this.#circuit.forgo(row.seq);
      // If nothing may be sent now, the row stays in the outbox. A row that was set aside is already finished.
      if (webhook === null) this.#guard(() => this.#window.release(row));
      return;
    }
    this.#send(row, webhook, send).then(
      ({ outcome, tried }) => {
        free();
        // The circuit is shared and may wait for this attempt, so the outcome is reported after a stop as well. An attempt that the stop cut says
        // nothing about the receiver.
        if (!outcome.ok && (this.#isStopped || outcome.waits || this.#isSpare(row))) this.#circuit.forgo(row.seq);
        else this.#circuit.judge(row.seq, outcome, this.#host.time.monotonic());
        if (outcome.ok || !(this.#isStopped || outcome.waits)) this.#host.judged(webhook.id, tried, outcome);
        this.#guard(() => this.#judge(tried, webhook, outcome));
      },
      (error: unknown) => {
        free();
        this.#circuit.forgo(row.seq);
        this.#crash(error);
      },
    );
  }

  /** Returns null if the event cannot be rendered. The event is then set aside, so that the event does not block its lane. */
  #sendingOf(row: Delivery, webhook: Webhook): Sending | null {
    const { time, sender, receiver, connector } = this.#host;
    if (webhook.chatwoot) return () => connector.deliver(webhook, row);
    try {
      const { url, body, headers } = this.#requests.of(webhook, sender(this.#input.instanceId), row, time.now());
      return () => receiver.post(url, body, headers, this.#cuts);
    } catch (error) {
      this.#guard(() => this.#setAside(row, webhook, error));
      return null;
    }
  }

  #setAside(row: Delivery, webhook: Webhook, error: unknown): void {
    const { instanceId } = this.#input;
    const text = `the event could not be rendered: ${error instanceof Error ? error.message : String(error)}`;
    const last = { ...lastOf(row), status: 0, error: text };
    this.#host.log.error({ instance: instanceId, webhook: webhook.id, event: row.type, error }, 'event.setAside');
    this.#host.setAside(instanceId);
    this.#report(row, webhook, last);
    this.#window.finish(row, last, true);
  }

  /** Makes one attempt. `tried` is the row with this attempt in its count and its list. */
  async #send(row: Delivery, webhook: Webhook, send: Sending): Promise<{ readonly outcome: Attempt; readonly tried: Delivery }> {
    const { time, log, meter } = this.#host;
    const started = time.now();
    this.#posting += 1;
    const outcome = await send().finally(() => (this.#posting -= 1));
    const tried = { ...row, attempts: row.attempts + 1, tries: withTry(row.tries, outcome, started, time.now() - started) };
    if (this.#isStopped && !outcome.ok) return { outcome, tried };
    const fields = { instance: row.instanceId, webhook: webhook.id, event: row.type, attempt: row.attempts + 1, status: outcome.status };
    const [ended, isRefusal] = [time.now(), outcome.status !== undefined];
    meter.posted(outcome.ok ? 'delivered' : isRefusal ? 'refused' : 'failed', ended - started, outcome.ok ? ended - row.at : null);
    const failure = outcome.ok ? {} : { error: outcome.error };
    log[outcome.ok ? 'debug' : 'info']({ ...fields, ...failure, ms: ended - started }, 'webhook.attempted');
    return { outcome, tried };
  }

  #judge(tried: Delivery, webhook: Webhook, outcome: Attempt): void {
    if (!outcome.ok) return this.#retry(tried, webhook, outcome);
    this.#window.finish(tried, { ...lastOf(tried), status: outcome.status, error: '' }, false);
  }

  #retry(row: Delivery, webhook: Webhook, outcome: FailedAttempt): void {
    const { policy, random, disable } = this.#host;
    const last = { ...lastOf(row), status: outcome.status ?? 0, error: outcome.error };
    const step = stepAfter(policy, row.attempts, outcome, random());
    const isEarly = this.#window.isEarly(row);
    if (step.kind === 'retry' && !isEarly) return this.#retrySoon(row, step.delay);
    this.#report(row, webhook, last);
    // An early attempt at a parked row was a probe and does not count.
    if (step.kind !== 'disable' && isEarly) return this.#window.leave(row);
    if (step.kind === 'giveUp') return this.#window.finish(row, last, true);
    if (step.kind === 'park')
      return this.#run(
        () => this.#window.park(row, step.delay, last),
        () => this.#window.readAgain(),
      );
    disable(webhook);
    this.#window.release(row);
  }

  /**
   * Returns true if a failure of the row must not open the circuit. An event that always fails is tried early again and again, and must not block other
   * chats.
   */
  #isSpare(row: Delivery): boolean {
    return !this.#circuit.isOpen && this.#window.isEarly(row);
  }

  /** Retries after the delay. While the circuit is open, the row waits at the head of its lane instead. */
  #retrySoon(row: Delivery, delay: number): void {
    const isOpen = (): boolean => this.#circuit.until > this.#host.time.monotonic();
    if (isOpen()) return this.#putBack(row);
    this.#later(delay, () => (!isOpen() && this.#circuit.admit(row.seq) ? this.#attempt(row) : this.#putBack(row)));
  }

  #report(row: Delivery, webhook: Webhook, { attempts, status, error }: LastAttempt): void {
    this.#host.failed(row.instanceId, webhook, row.eventId, {
      event: row.type,
      messageType: row.messageType,
      statusCode: status === 0 ? null : status,
      attempts,
      error,
      payload: this.#payloadOf(row),
    });
  }

  /** Returns the whole body, or an empty object if the body cannot be rendered. */
  #payloadOf(row: Delivery): unknown {
    try {
      return JSON.parse(enveloped(this.#host.envelope, this.#host.sender(row.instanceId), row));
    } catch {
      return {};
    }
  }
}
