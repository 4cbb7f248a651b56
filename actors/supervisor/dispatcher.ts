/** The state that the couriers of all instances share: webhooks, slots for posts, circuits, bounds and error histories. */
import type { Delivery, EventSender, InstanceId, InstanceRecord, Webhook } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import { EpochLost, type Attempt, type Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import { Circuit, ReceiverHealth } from '../delivery/receiver-health.ts';
import type { CourierHost, EventConnector } from '../delivery/courier-host.ts';
import { History } from '../delivery/finished-deliveries.ts';
import { WebhookRegistry } from '../delivery/webhook-config.ts';
import { Slots } from '../policy/pacing.ts';
import { Sweeper } from '../delivery/sweeper.ts';
import { finalUrl } from '../delivery/webhook-request.ts';

interface DispatcherInput {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly baseUrl: string;
  readonly workers: SupervisedWorkers;
  readonly connector: EventConnector;
  /** Existing cells. The dispatcher never makes a cell. */
  readonly cells: ReadonlyMap<InstanceId, Cell>;
  /** Returns the current record of an instance. */
  record(id: InstanceId): InstanceRecord | undefined;
  /** Returns false during a stop. Nothing new begins then. */
  open(): boolean;
  /** Returns true if this process may act for the instance now. */
  owns(id: InstanceId): boolean;
  /** Returns true if this process does the work that only one node of the cluster does. */
  onDuty?(): boolean;
  /** Returns false while the clock is in doubt (see `SweeperHost`). */
  agesCount?(): boolean;
  /** Reports that a receiver of the instance began to fail, or recovered. */
  troubled?(id: InstanceId): void;
}

export class Dispatcher {
  readonly webhooks = new WebhookRegistry();
  readonly globalHistory = new History();
  readonly couriers: CourierHost;
  readonly sweeper: Sweeper;
  readonly #input: DispatcherInput;
  /** Circuits by webhook. */
  readonly #circuits = new Map<string, Circuit>();
  /** Health of receivers, by webhook. A change of the webhook resets its health. */
  readonly #health = new Map<string, ReceiverHealth>();
  /** Webhooks with failing receivers, by the instance that owns them. */
  readonly #failing = new Map<InstanceId, Set<string>>();

  constructor(input: DispatcherInput) {
    const { deliveries, time, log } = input.ports;
    this.#input = input;
    this.couriers = this.#courierHost();
    this.sweeper = new Sweeper({
      deliveries,
      time,
      log,
      workers: input.workers,
      policy: input.policy.delivery,
      onDuty: () => input.onDuty?.() ?? true,
      agesCount: () => input.agesCount?.() ?? true,
      isKnown: (webhookId) => this.webhooks.get(webhookId) !== null,
      trimmed: (webhookId) => this.#notify(this.webhooks.get(webhookId), 'delivery.trimmed'),
    });
  }

  /** Replaces the configuration of one webhook and notifies its couriers. */
  set(webhook: Webhook): void {
    this.#forgetHealth(this.webhooks.get(webhook.id));
    this.webhooks.set(webhook);
    this.#notify(webhook, 'delivery.changed');
  }

  remove(id: string): void {
    const gone = this.webhooks.remove(id);
    this.#forgetHealth(gone);
    this.#notify(gone, 'delivery.changed');
    this.#circuits.delete(id);
    this.sweeper.forget(id);
  }

  /** Removes the webhooks of an instance that is gone. */
  forget(instance: InstanceId): void {
    for (const { id } of this.webhooks.own(instance)) this.remove(id);
  }

  /** Drops the circuits and the health of an instance that moves to another node. Its webhooks stay. */
  leave(instance: InstanceId): void {
    for (const webhook of this.webhooks.own(instance)) {
      this.#forgetHealth(webhook);
      this.#circuits.delete(webhook.id);
    }
  }

  /** Returns the time before which nothing is sent to the webhook, because its receiver failed; 0 if sending is not paused. In Unix milliseconds. */
  pausedUntil(webhookId: string): number {
    const until = this.#circuits.get(webhookId)?.until ?? 0;
    const { time } = this.#input.ports;
    const left = until - time.monotonic();
    return left > 0 ? time.now() + left : 0;
  }

  /** Returns the number of consecutive failed attempts at the receiver of the webhook. */
  failures(webhookId: string): number {
    return this.#circuits.get(webhookId)?.failures ?? 0;
  }

  /** Returns the outcomes of the last attempts at the receiver, or null before the first attempt. */
  health(webhookId: string): ReceiverHealth | null {
    return this.#health.get(webhookId) ?? null;
  }

  /** Returns one of the instance's webhooks with a failing receiver; null if there is none. */
  failing(id: InstanceId): Webhook | null {
    const [first] = this.#failing.get(id) ?? [];
    return first === undefined ? null : this.webhooks.get(first);
  }

  /** Returns the webhooks whose circuit is open. A circuit stays open until a delivery succeeds, the webhook changes, or `clearCircuit` closes the circuit. */
  get broken(): readonly Webhook[] {
    const open = [...this.#circuits].filter(([, { isOpen }]) => isOpen).map(([id]) => this.webhooks.get(id));
    return open.filter((webhook) => webhook?.enabled === true) as readonly Webhook[];
  }

  /** The number of webhooks to which nothing is sent now, because their receivers failed. */
  get openCircuits(): number {
    const now = this.#input.ports.time.monotonic();
    let open = 0;
    for (const { until } of this.#circuits.values()) if (until > now) open += 1;
    return open;
  }

  /** Closes the circuit of the webhook, so that its receiver is tried again at once. */
  clearCircuit(webhookId: string): void {
    this.#circuits.get(webhookId)?.reset();
    this.#notify(this.webhooks.get(webhookId), 'delivery.changed');
  }

  /** Returns the fields of the envelope that describe the instance. For the test of a global webhook (`id` is null), only `baseUrl` is filled. */
  sender(id: InstanceId | null): EventSender {
    const record = id === null ? undefined : this.#input.record(id);
    return { owner: record?.owner ?? '', token: record?.token ?? '', name: record?.name ?? '', baseUrl: this.#input.baseUrl };
  }

  #notify(webhook: Webhook | null, type: 'delivery.changed' | 'delivery.trimmed'): void {
    if (!webhook) return;
    const { cells } = this.#input;
    const concerned = webhook.instanceId === null ? cells.values() : [cells.get(webhook.instanceId)];
    for (const cell of concerned) cell?.send({ type, webhookId: webhook.id });
  }

  /** Disables the webhook unless its address changed meanwhile. After such a change, the answer came from the former address. */
  #disable({ id, url, instanceId }: Webhook): void {
    const { webhooks, log } = this.#input.ports;
    const now = this.webhooks.get(id);
    if (!now?.enabled || now.url !== url || now.unreadable !== undefined) return;
    this.set({ ...now, enabled: false });
    log.warn({ webhook: id }, 'webhook.disabled');
    const epoch = instanceId === null ? 0 : (this.#input.record(instanceId)?.epoch ?? 0);
    webhooks.disable({ id, url, instanceId }, epoch).catch((error: unknown) => {
      // A node that lost the instance cannot store the change. The next owner posts to the same address, and disables the webhook itself.
      if (!(error instanceof EpochLost)) log.error({ webhook: id, error }, 'webhook.notDisabled');
    });
  }

  #judged(webhookId: string, row: Delivery, outcome: Attempt): void {
    const webhook = this.webhooks.get(webhookId);
    // The webhook was removed during the attempt.
    if (webhook === null) return;
    const health = this.#health.get(webhookId) ?? new ReceiverHealth();
    this.#health.set(webhookId, health);
    health.judge(row, outcome, this.#input.ports.time.now());
    if (webhook.instanceId !== null) this.#setFailing(webhook.instanceId, webhookId, health.isFailing);
  }

  #setFailing(instance: InstanceId, webhookId: string, isFailing: boolean): void {
    const all = this.#failing.get(instance);
    if ((all?.has(webhookId) ?? false) === isFailing) return;
    if (isFailing) this.#failing.set(instance, (all ?? new Set()).add(webhookId));
    else all?.delete(webhookId);
    if (all?.size === 0) this.#failing.delete(instance);
    this.#input.troubled?.(instance);
  }

  #forgetHealth(webhook: Webhook | null): void {
    if (webhook === null) return;
    this.#health.delete(webhook.id);
    if (webhook.instanceId !== null) this.#setFailing(webhook.instanceId, webhook.id, false);
  }

  #circuit(webhookId: string): Circuit {
    const known = this.#circuits.get(webhookId) ?? new Circuit(this.#input.policy.delivery);
    this.#circuits.set(webhookId, known);
    return known;
  }

  #courierHost(): CourierHost {
    const { ports, policy, cells, connector } = this.#input;
    const { outbox, receiver, signer, envelope, time, log, meter, chance } = ports;
    return {
      outbox,
      receiver,
      connector,
      signer,
      envelope,
      time,
      log,
      meter,
      slots: new Slots(policy.delivery.atOnce),
      policy: policy.delivery,
      random: () => chance.random(),
      owns: (id) => this.#input.owns(id),
      webhook: (id) => {
        const webhook = this.webhooks.get(id);
        return webhook && !this.#input.open() ? { ...webhook, enabled: false } : webhook;
      },
      sender: (id) => this.sender(id),
      epoch: (id) => this.#input.record(id)?.epoch ?? 0,
      failed: (id, webhook, eventId, error) => {
        const isGlobal = webhook.instanceId === null;
        const history = isGlobal ? this.globalHistory : cells.get(id)?.history;
        // The history has the final address with its segments, which are the usual reason for a 404.
        const url = finalUrl(webhook, { type: error.event, messageType: error.messageType });
        history?.add(`${webhook.id} ${eventId}`, { ...error, created: time.now(), url, type: isGlobal ? 'global' : 'local' });
      },
      setAside: (id) => cells.get(id)?.vitals.setAside(),
      disable: (webhook) => this.#disable(webhook),
      judged: (webhookId, row, outcome) => this.#judged(webhookId, row, outcome),
      circuit: (webhookId) => this.#circuit(webhookId),
    };
  }
}
