/** A node of a simulated cluster: the real parts of `actors/cluster`, with a simulated database, bus and platform around them. */
import { nodeGate } from '#actors/cluster/cluster-gate.ts';
import { Cluster, type ClusterOptions } from '#actors/cluster/cluster.ts';
import type { ClusterHost } from '#actors/cluster/commands.ts';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { refuse, type InstanceId, type InstanceRecord, type Result } from '#actors/model.ts';
import type { Gate } from '#actors/policy/gate.ts';
import type { Ports } from '#actors/ports.ts';
import type { Cell } from '#actors/session/cell.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { Registry } from '#actors/supervisor/registry.ts';
import { quietMeter } from '#test/fakes/meter.ts';
import { instance } from '#test/fakes/records.ts';
import { SimulatedClient } from './simulated-bus.ts';
import type { Connection } from './simulated-database.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { SimulatedSession } from './simulated-session.ts';
import type { SessionHost, World } from './simulated-world.ts';

const nothing = async (): Promise<readonly never[]> => [];

export const recordOf = (id: InstanceId, epoch: number): InstanceRecord => ({
  ...instance,
  id,
  epoch,
  token: `token of ${id}`,
  wanted: 'online',
  jid: `${id}@s.whatsapp.net`,
});

export class ExploredNode implements SessionHost {
  readonly world: World;
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly bus: SimulatedClient;
  readonly cluster: Cluster;
  readonly ownership: Ownership;
  readonly gate: Gate;
  readonly connection: Connection;
  readonly registry: Registry;
  /** True if statements of this node reach the database. */
  reachable = true;
  draining = false;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.process = new SimulatedProcess(world.time);
    this.bus = new SimulatedClient(world.server, this.process);
    this.connection = { process: this.process, reachable: () => this.reachable };
    const ports = this.#ports();
    const options = this.#options();
    const { policy } = options;
    this.ownership = new Ownership(this.process, policy);
    this.gate = nodeGate(ports, { handshakes: { atOnce: 20, perSecond: 20 } }, options);
    this.registry = new Registry(
      (record) => new SimulatedSession(this, record) as unknown as Cell,
      (id) => this.ownership.owns(id),
    );
    for (const id of world.instances) this.registry.register(recordOf(id, 0));
    this.cluster = new Cluster(options, this.ownership, this.#host(ports));
    this.cluster.handle('work', (_id, args) => this.#work(...(args as readonly [InstanceId, string, number])));
  }

  #options(): ClusterOptions {
    const { world, name } = this;
    const { database, random } = world;
    return {
      node: { name, capacity: 100, version: '1.0.0' },
      policy: { ...usualClusterPolicy, answer: 20_000 },
      leases: database.over(this.connection, database.leases.store()),
      leftWork: database.over(this.connection, { of: nothing }),
      changes: null as never,
      signIns: null as never,
      newIncarnation: () => `${name}/${Math.floor(random() * 1e9)}`,
      onDuty: () => false,
      sharesFiles: false,
      bus: { bus: this.bus, prefix: 'p', keptFor: 60_000 },
    };
  }

  async start(): Promise<void> {
    await this.cluster.join();
    this.cluster.begin();
  }

  /** Sends a command as a client of this node. */
  command(id: InstanceId, command: string, ms: number): Promise<Result<string>> {
    const args = async () => ({ ok: true, value: [id, command, ms] }) as const;
    return this.cluster.command({ id, method: 'work', args, here: () => this.#work(id, command, ms) });
  }

  session(id: InstanceId): SimulatedSession | null {
    return (this.registry.cells.get(id) as SimulatedSession | undefined) ?? null;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.process.setTimeout(resolve, ms));
  }

  #work(id: InstanceId, command: string, ms: number): Promise<Result<string>> {
    const session = this.registry.cell(id) as unknown as SimulatedSession | null;
    return session?.work(command, ms) ?? Promise.resolve(refuse('notSent', 'the session is not here'));
  }

  #ports(): Ports {
    const { world, connection } = this;
    const { database, random, log } = world;
    const stores = {
      instances: { some: async (ids: readonly InstanceId[]) => ids.map((id) => recordOf(id, database.leases.epochOf(id))) },
      messages: { queueing: nothing },
      outbox: { pending: nothing },
      campaigns: { working: nothing },
      chatwootRows: { replying: nothing },
    };
    const over = Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, database.over<object>(connection, store)]));
    return { ...over, time: this.process, log, meter: quietMeter, chance: { random } } as unknown as Ports;
  }

  #host(ports: Ports): ClusterHost {
    const { random } = this.world;
    const policy = {
      crash: { limit: 5, window: 60_000, cooldown: 900_000 },
      reconnect: { min: 1_000, max: 60_000, stable: 60_000, cutEvery: 1_000 },
    };
    return {
      ports,
      policy: { stopGrace: 3_000 } as never,
      workers: new SupervisedWorkers({ ...ports, policy, random, fields: {} }),
      registry: this.registry,
      dispatcher: { webhooks: { receiving: () => [] }, leave: () => undefined } as never,
      since: 0,
      campaigns: { look: () => undefined, forget: () => undefined },
      wake: () => undefined,
      forget: () => undefined,
      // In the gateway the supervisor notifies several readers, and the streams are one of them.
      begun: () => undefined,
      refreshAdmin: async () => undefined,
      refreshSignIns: async () => undefined,
      row: () => null,
      watchHere: () => () => undefined,
      forgetBeside: (id) => this.cluster.streams?.reader.forget(id),
    };
  }
}
