/** Tests a courier with random receivers, crashes, changes and bounds, on simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Attempt } from '#actors/ports.ts';
import { CourierDesk as Desk, no } from '#test/fakes/courier-desk.ts';
import { webhook as sample } from '#test/fakes/records.ts';
import { settle } from '#test/fakes/world.ts';

type Step =
  | { readonly do: 'commit'; readonly lane: string; readonly count: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'crash' | 'change' | 'switch' | 'trim' | 'away' | 'back' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      lane: fc.constantFrom('a', 'b', 'c'),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(20_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('crash' as const, 'change' as const, 'switch' as const, 'trim' as const, 'away' as const, 'back' as const),
    }),
  },
);

/** The replies of the receiver to its posts, each a status and a duration. */
const behaviour = fc.array(
  fc.record({
    status: fc.constantFrom(200, 200, 200, 200, 500, 429, 404, 0),
    ms: fc.constantFrom(0, 0, 0, 10, 3000),
    patience: fc.nat(30),
  }),
  { minLength: 1, maxLength: 25 },
);

class Trial {
  readonly desk = new Desk({
    inMemory: 8,
    concurrency: 3,
    circuit: { failures: 4, min: 5000, max: 60_000 },
    slow: [5000, 5000, 30_000],
  });
  committed = 0;
  #repaired = false;
  /** Events in the order of their first successful post. */
  readonly taken: string[] = [];
  readonly failures = new Map<string, number>();
  readonly lanes = new Map<string, string>();

  constructor(answers: readonly { readonly status: number; readonly ms: number; readonly patience: number }[]) {
    const { world } = this.desk;
    let n = 0;
    world.receiver.answer = (post) => {
      const { status, ms, patience } = (this.#repaired ? null : answers[(n += 1) % answers.length]) ?? { status: 200, ms: 0, patience: 0 };
      const id = post.headers['webhook-id'] ?? '';
      if (status === 200 && !this.taken.includes(id)) this.taken.push(id);
      if (status !== 200) this.failures.set(id, (this.failures.get(id) ?? 0) + 1);
      const answer: Attempt = status === 200 ? { ok: true, status } : no(status, status === 429 ? { retryAfter: patience } : {});
      return ms === 0 ? answer : new Promise((resolve) => void world.time.setTimeout(() => resolve(answer), ms));
    };
  }

  async run(one: Step): Promise<void> {
    const { desk } = this;
    const { world } = desk;
    if (one.do === 'commit') {
      const rows = desk.rows(one.count, one.lane);
      this.committed += rows.length;
      for (const { eventId, lane } of rows) this.lanes.set(eventId, lane);
      desk.add(rows);
    }
    if (one.do === 'pass') await world.time.pass(one.ms);
    if (one.do === 'crash') desk.restart();
    if (one.do === 'change') desk.changed();
    if (one.do === 'trim') desk.courier.handle({ type: 'delivery.trimmed' });
    if (one.do === 'switch') desk.webhook = { ...sample, enabled: desk.webhook?.enabled === false };
    if (one.do === 'switch') desk.changed();
    if (one.do === 'away' || one.do === 'back') world.db.away = one.do === 'away';
    await settle();
  }

  /** Ends all faults and waits long enough for all deliveries. */
  async end(): Promise<void> {
    const { desk } = this;
    desk.world.db.away = false;
    desk.webhook = sample;
    this.#repaired = true;
    desk.changed();
    await desk.world.time.pass(1_000_000);
    desk.assertQuiet();
  }
}

test('courier: through crashes, changes, bounds and storage outages every row ends exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(behaviour, fc.array(step, { maxLength: 25 }), async (answers, steps) => {
      const trial = new Trial(answers);
      for (const one of steps) await trial.run(one);
      await trial.end();
      const { archive } = trial.desk.world.db;
      assert.equal(new Set(archive.map(({ eventId }) => eventId)).size, trial.committed);
      assert.equal(archive.length, trial.committed);
      for (const { eventId, dead } of archive) assert.equal(trial.taken.includes(eventId), !dead);
    }),
    { seed: 7, numRuns: 150 },
  );
});

test('courier: events of a lane are delivered in order, whatever else happens', async () => {
  await fc.assert(
    fc.asyncProperty(behaviour, fc.array(step, { maxLength: 25 }), async (answers, steps) => {
      const trial = new Trial(answers);
      for (const one of steps) await trial.run(one);
      await trial.end();
      for (const lane of 'abc') {
        const order = trial.taken.filter((id) => trial.lanes.get(id) === lane).map((id) => Number(id.slice(1)));
        assert.deepEqual(
          order,
          order.toSorted((a, b) => a - b),
        );
      }
    }),
    { seed: 11, numRuns: 150 },
  );
});
