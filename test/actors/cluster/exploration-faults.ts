/** The faults of a simulated cluster. Each fault ends by itself, or at the end of the phase of faults. */
import type { ExploredNode } from './explored-node.ts';
import { calm, type Chaos, type Odds } from './simulated-chaos.ts';
import type { World } from './simulated-world.ts';

interface FaultyWorld extends Pick<World, 'time' | 'random' | 'database'> {
  readonly chaos: Chaos;
  readonly nodes: ReadonlyMap<string, ExploredNode>;
  add(name: string): void;
  kill(node: ExploredNode): void;
  replace(node: ExploredNode): void;
  rival(name: string): void;
  unsent(node: ExploredNode): void;
}

type Fault = (world: FaultyWorld, node: ExploredNode) => void;

const between = (world: FaultyWorld, least: number, most: number): number => least + Math.floor(world.random() * (most - least));

const withOdds =
  (change: Partial<Odds>): Fault =>
  (world) => {
    world.chaos.odds = { ...world.chaos.odds, ...change };
    world.time.setTimeout(() => (world.chaos.odds = calm), between(world, 500, 8_000));
  };

export const faults = {
  'stands still': (world, node) => {
    node.process.stopped = true;
    world.time.setTimeout(() => node.process.stopped && node.process.continue(), between(world, 500, 40_000));
  },
  'is killed': (world, node) => {
    world.kill(node);
    // A rival may have taken the name in the meantime.
    world.time.setTimeout(() => world.nodes.has(node.name) || world.add(node.name), between(world, 1_000, 25_000));
  },
  drains: (world, node) => {
    if ([...world.nodes.values()].filter(({ draining }) => !draining).length < 2) return;
    node.draining = true;
    void node.cluster.drain(10_000);
  },
  'drains and stops': (world, node) => {
    if (node.draining || [...world.nodes.values()].filter(({ draining }) => !draining).length < 2) return;
    node.draining = true;
    void node.cluster
      .drain(8_000)
      .then(() => node.cluster.stop())
      .then(() => world.replace(node));
  },
  'loses the database': (world, node) => {
    node.reachable = false;
    world.time.setTimeout(() => (node.reachable = true), between(world, 200, world.random() < 0.8 ? 6_000 : 30_000));
  },
  'loses the bus': (world, node) => {
    world.unsent(node);
    node.bus.connected = false;
    world.time.setTimeout(() => (node.bus.connected = true), between(world, 200, 10_000));
  },
  'statements fail': withOdds({ refused: 0.3 }),
  'replies of the database are lost': withOdds({ unanswered: 0.3 }),
  'statements are slow': withOdds({ slow: 0.4 }),
  'subscriptions fail': withOdds({ unsubscribed: 0.5 }),
  'messages are late': withOdds({ late: 0.4 }),
  'messages are lost': withOdds({ lost: 0.2 }),
  'messages are doubled': withOdds({ doubled: 0.4 }),
  'a node joins': (world) => {
    if (world.nodes.size < 4) world.add(`node-${world.nodes.size}-${Math.floor(world.random() * 1_000)}`);
  },
  'a rival of its name starts': (world, node) => world.rival(node.name),
  'the clock of a node is set': (world, node) => {
    node.process.wrongBy += between(world, -60_000, 60_000);
  },
  'the clock of the database is set': (world) => {
    world.database.offset += between(world, -40_000, 40_000);
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;
