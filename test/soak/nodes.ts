/** Runs several nodes with traffic both ways through every fault of machines, one by one and two at a time. Nothing is lost or doubled. */
import { after, before, test } from 'node:test';
import { Fleet } from '#test/support/fleet.ts';
import { faults, weather, type FleetFault } from '#test/support/fleet-faults.ts';
import type { FleetTraffic } from '#test/support/fleet-traffic.ts';
import { withNats } from '#test/support/nats.ts';
import { randomOf, shuffled } from '#test/support/random.ts';

const nodes = Number(process.env['SOAK_NODES'] ?? 3);
const sessions = Number(process.env['SOAK_SESSIONS'] ?? 24);
const rounds = Number(process.env['SOAK_ROUNDS'] ?? 1);
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);
/** The text that the names of the chosen faults contain. Empty for all faults. */
const only = process.env['SOAK_FAULT'] ?? '';

/** The folder for the output of nodes. Empty for no output. */
const logs = process.env['SOAK_LOGS'] ?? '';

const random = randomOf(seed);
const pairs = <T>(items: readonly T[]): readonly (readonly [T, T])[] =>
  items.flatMap((item, at) => (at % 2 === 1 ? [[items[at - 1] as T, item] as const] : []));

let fleet: Fleet;
let traffic: FleetTraffic;
before(async () => {
  if (withNats.skip !== undefined) return;
  fleet = await Fleet.open({ nodes, sessions, seed, slowestMs: 5_000 });
  traffic = fleet.traffic(randomOf(seed + 2));
});
after(() => fleet?.close());

/** Causes faults and waits for the recovery. After a failure it saves the output of the nodes, if `--logs` names a folder. */
const weathered = async (...all: readonly FleetFault[]): Promise<void> => {
  try {
    await weather({ fleet, random }, traffic, all);
  } catch (error) {
    if (logs !== '') fleet.save(logs);
    throw error;
  }
};

test(`nodes: ${nodes} nodes with ${sessions} sessions survive every fault (seed ${seed})`, withNats, async (t) => {
  traffic.start();
  await fleet.recovers();
  await traffic.proceeds();
  const all: readonly FleetFault[] = Object.values(faults).filter(({ name }) => name.includes(only));
  for (let round = 1; round <= rounds; round += 1) {
    for (const fault of shuffled(all, random)) await t.test(`round ${round}: ${fault.name}`, () => weathered(fault));
    for (const [one, other] of pairs(shuffled(all, random).filter(({ toAll }) => toAll === undefined)))
      await t.test(`round ${round}: ${one.name}; ${other.name}`, () => weathered(one, other));
  }
  await traffic.stop();
});

test('nodes: every accepted text was read once, and every written text arrived by webhook once, in order', withNats, async (t) => {
  t.diagnostic(traffic.figures);
  await traffic.assertKept();
});
