/** An instance with a webhook of its own, on the fakes and on PostgreSQL, for the tests of the stores of deliveries. */
import { test } from 'node:test';
import type { Delivery, DeliveryState, Entry, EventType } from '#actors/model.ts';
import type { ClaimedRow, Ended, Stores } from '#actors/ports.ts';
import { instance, owner, webhook as sample } from '#test/contract/samples.ts';
import { World } from '#test/fakes/world.ts';
import { testDatabase } from '#test/support/database.ts';

export interface Side {
  readonly name: string;
  readonly stores: Stores;
  /** Advances the time by one millisecond, and returns it. */
  tick(): Promise<number>;
}

const fakeSide = (): Side => {
  const world = new World();
  const tick = async (): Promise<number> => {
    await world.time.pass(1);
    return world.time.now();
  };
  return { name: 'fake', stores: world.ports, tick };
};

const database = await testDatabase({ isShared: true });
let clock = Date.parse('2026-08-19T12:00:00Z');
const sides: readonly Side[] = [
  fakeSide(),
  { name: 'PostgreSQL', stores: await database.storage({ now: () => clock }), tick: async () => (clock += 1) },
];

let made = 0;

/** An instance with a webhook of its own, on one side. */
export class DeliveryScene {
  readonly id = `i${(made += 1)}`;
  readonly hook = `w${made}`;
  readonly #side: Side;

  constructor(side: Side) {
    this.#side = side;
  }

  get stores(): Stores {
    return this.#side.stores;
  }

  static async make(side: Side): Promise<DeliveryScene> {
    const scene = new DeliveryScene(side);
    await side.stores.instances.insert({ ...instance.record, id: scene.id, token: scene.id });
    await side.stores.webhooks.save({ ...sample, id: scene.hook, instanceId: scene.id }, 1);
    return scene;
  }

  /** Commits one event after the other, a millisecond apart. Resolves with their rows. `letters`: the text of each event. */
  async commit(
    types: readonly EventType[],
    targets: readonly string[] = [this.hook],
    letters = 'x'.repeat(10),
  ): Promise<readonly Delivery[]> {
    const rows: Delivery[] = [];
    for (const type of types) {
      await this.#side.tick();
      const entry: Entry = { kind: 'event', type, lane: 'l', payload: { text: letters } };
      rows.push(...(await this.stores.journal.commit({ id: this.id, owner, epoch: 1 }, [entry], () => targets)).deliveries);
    }
    return rows;
  }

  async due(now = 0, most = { rows: 100, bytes: 1e9 }): Promise<readonly Delivery[]> {
    return (await this.stores.outbox.due(this.hook, this.id, now, most)).rows;
  }

  async states(state: DeliveryState | null = null, hook = this.hook): Promise<readonly string[]> {
    const page = await this.stores.deliveries.list({ webhooks: [hook], state, limit: 1000, offset: 0 });
    return page.deliveries.map((one) => `${one.state} ${one.type}`);
  }
}

export const claimed = ({ seq, instanceId }: Delivery): ClaimedRow => ({ seq, instanceId, epoch: 1 });
export const ended = (row: Delivery, dead = false, change: Partial<Ended> = {}): Ended & ClaimedRow => ({
  ...claimed(row),
  dead,
  attempts: dead ? 11 : 1,
  status: dead ? 502 : 200,
  error: dead ? 'bad gateway' : '',
  endedAt: 77,
  ...change,
});
export const anything = {
  owner: null,
  events: null,
  types: null,
  states: ['parked', 'dead', 'delivered'],
  from: 0,
  to: 9e15,
  limit: 100,
} as const;
export const most = { rows: 1000, bytes: 1e9 };
/** A body of `commit`. */
export const text = '{"text":"xxxxxxxxxx"}';
export const bytes = text.length;

export const both = (title: string, run: (scene: DeliveryScene, side: Side) => Promise<void>): void => {
  for (const side of sides) test(`${title} (${side.name})`, async () => run(await DeliveryScene.make(side), side));
};
