/** A courier of one webhook, with a simulated receiver, outbox and clock. */
import { quietMeter } from '#test/fakes/meter.ts';
import assert from 'node:assert/strict';
import { Circuit } from '#actors/delivery/receiver-health.ts';
import { Courier } from '#actors/delivery/courier.ts';
import type { CourierHost } from '#actors/delivery/courier-host.ts';
import { Slots } from '#actors/policy/pacing.ts';
import type { Delivery, DeliveryError, Webhook } from '#actors/model.ts';
import type { DeliveryPolicy } from '#actors/policy/policy.ts';
import type { Attempt } from '#actors/ports.ts';
import { delivery, instance, webhook as sample } from './records.ts';
import { settle, testPolicy, World } from './world.ts';

/** Returns the result of a delivery attempt that the receiver answered with this error status. */
export const no = (status: number, more: { readonly retryAfter?: number } = {}): Attempt => ({
  ok: false,
  status,
  error: `said ${status}`,
  ...more,
});

/** The courier of one webhook, with controls for its ports. */
export class CourierDesk {
  readonly world = new World();
  readonly start = this.world.time.now();
  readonly failures: (Omit<DeliveryError, 'url' | 'type' | 'created'> & { readonly eventId: string })[] = [];
  readonly crashes: unknown[] = [];
  setAside = 0;
  courier: Courier;
  host: CourierHost;
  webhook: Webhook | null = sample;
  circuit: Circuit;
  #seq = 0;

  constructor(change: Partial<DeliveryPolicy> = {}, slots: Slots = new Slots(testPolicy.delivery.atOnce)) {
    const { ports, time, receiver, log } = this.world;
    const policy = { ...testPolicy.delivery, ...change };
    this.circuit = new Circuit(policy);
    this.host = {
      outbox: ports.outbox,
      receiver,
      connector: { deliver: async () => no(500) },
      signer: ports.signer,
      envelope: ports.envelope,
      slots,
      time,
      log,
      meter: quietMeter,
      policy,
      random: () => 0.5,
      owns: () => true,
      webhook: () => this.webhook,
      epoch: () => instance.epoch,
      sender: () => ({ owner: '', token: '', name: '', baseUrl: '' }),
      failed: (_instance, _webhook, eventId, error) => void this.failures.push({ ...error, eventId }),
      setAside: () => void (this.setAside += 1),
      disable: (webhook) => void (this.webhook = { ...webhook, enabled: false }),
      judged: () => undefined,
      circuit: () => this.circuit,
    };
    this.courier = this.#make();
  }

  #make(): Courier {
    return new Courier({ host: this.host, instanceId: instance.id, webhookId: sample.id }, (error) => this.crashes.push(error));
  }

  /** Kills the process and starts it again. The state in memory is lost. */
  restart(): void {
    this.courier.stop();
    this.circuit = new Circuit(this.host.policy);
    this.courier = this.#make();
    this.add([]);
  }

  add(rows: readonly Delivery[]): void {
    this.courier.handle({ type: 'delivery.added', rows });
  }

  changed(): void {
    this.courier.handle({ type: 'delivery.changed' });
  }

  /** Stores deliveries in the outbox, as the journal does before it hands them to the courier. Returns the deliveries. */
  rows(count: number, lane: string, change: Partial<Delivery> = {}): readonly Delivery[] {
    const rows = Array.from({ length: count }, () => delivery((this.#seq += 1), lane, change));
    for (const row of rows) this.world.db.outbox.set(row.seq, row);
    return rows;
  }

  async commit(count: number, lane = 'chat'): Promise<readonly Delivery[]> {
    const rows = this.rows(count, lane);
    this.add(rows);
    await settle();
    return rows;
  }

  /** Returns the posts as a text such as `e1@0 e1@1500`: each event with its time since the start. In milliseconds. */
  get posts(): string {
    return this.world.receiver.posts.map((post) => `${post.headers['webhook-id']}@${post.at - this.start}`).join(' ');
  }

  get order(): string {
    return this.world.receiver.posts.map((post) => post.headers['webhook-id']).join(' ');
  }

  get stored(): number {
    return this.world.db.outbox.size;
  }

  /** Asserts that no delivery waits and no timer is armed. */
  assertQuiet(): void {
    assert.deepEqual(this.crashes, []);
    assert.deepEqual([this.stored, this.courier.waiting, this.world.time.armed], [0, 0, 0]);
  }
}
