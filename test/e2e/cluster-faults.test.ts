/**
 * Tests three nodes under traffic in both directions, with faults of one node and of the shared services. `npm run soak -- --nodes 3` runs all faults for
 * longer.
 */
import { after, before, test } from 'node:test';
import { Fleet, hour, type Member } from '#test/support/fleet.ts';
import { faults, weather, type FleetFault } from '#test/support/fleet-faults.ts';
import type { FleetTraffic } from '#test/support/fleet-traffic.ts';
import { withNats } from '#test/support/nats.ts';
import { randomOf } from '#test/support/random.ts';
import { until } from '#test/support/until.ts';

/** Milliseconds: three nodes and their traffic share a busy machine. */
const patience = 120_000;
const seed = Date.now() % 100_000;
const random = randomOf(seed);
let fleet: Fleet;
let traffic: FleetTraffic;
before(async () => {
  if (withNats.skip !== undefined) return;
  fleet = await Fleet.open({ nodes: 3, sessions: 9, seed, slowestMs: 3_000 });
  traffic = fleet.traffic(randomOf(seed + 2));
  traffic.start();
  await fleet.recovers();
});
after(() => fleet?.close());

/** Faults of different nodes happen at the same time, which saves time and is a harder test. */
const together: readonly (readonly FleetFault[])[] = [
  [faults.databaseSilent, faults.busSilent],
  [faults.databaseAndBusGone, faults.clockAhead],
  [faults.platformSilent, faults.clockJumps],
  [faults.databaseDown],
];

for (const all of together)
  test(`nodes: ${all.map(({ name }) => name).join('; ')} (seed ${seed})`, withNats, () => weather({ fleet, random }, traffic, all));

test(
  'nodes: through all this, what was accepted was read once, and what was written came by webhook once, in order',
  withNats,
  async (t) => {
    await traffic.stop();
    t.diagnostic(traffic.figures);
    await traffic.assertKept();
  },
);

test('nodes: work that waits on a node whose clock is an hour ahead does not wait for an hour on another node', withNats, async () => {
  await traffic.stop();
  const shares = await fleet.owned();
  // The node gets its share again after the restart. A node may have none by chance.
  const first = fleet.members.toSorted(
    (one, other) => (shares.get(other.name)?.length ?? 0) - (shares.get(one.name)?.length ?? 0),
  )[0] as Member;
  await first.leaves();
  await first.gateway.start({ CLOCK_SHIFT_MS: String(hour) });
  await fleet.recovers();
  const owned = await until(
    async () => {
      const accounts = await fleet.ownedBy(first);
      return accounts.length > 0 && accounts;
    },
    'the node gets sessions',
    patience,
  );
  const { platform, receiver } = fleet;
  receiver.answer(503);
  const ids = await Promise.all(owned.map(({ number }) => platform.write(`55115${number.slice(-8)}`, number, 'while nobody takes it')));
  await until(async () => (await fleet.postponed(owned)) >= ids.length, 'they wait for their next tries', patience);
  await first.end('SIGKILL');
  await until(async () => (await fleet.ownedBy(first)).length === 0, 'the others have its sessions', patience);
  receiver.answer(200);
  await traffic.assertCame(ids);
});
