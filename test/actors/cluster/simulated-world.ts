/** The state that the parts of a simulated cluster share. */
import type { Cluster } from '#actors/cluster/cluster.ts';
import type { Ownership } from '#actors/cluster/ownership.ts';
import type { InstanceId } from '#actors/model.ts';
import type { Gate } from '#actors/policy/gate.ts';
import type { Log } from '#actors/ports.ts';
import type { FakeTime } from '#test/fakes/time.ts';
import type { BusServer } from './simulated-bus.ts';
import type { Connection, SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface World {
  readonly time: FakeTime;
  readonly random: () => number;
  readonly database: SimulatedDatabase;
  readonly server: BusServer;
  readonly instances: readonly InstanceId[];
  readonly log: Log;
  /** A session logged in at the platform. */
  login(id: InstanceId, node: SessionHost): void;
  logout(id: InstanceId, node: SessionHost): void;
  /** The session closed in order, which its node does only for another node. */
  given(id: InstanceId, node: SessionHost): void;
  /** The process of the node knows that the event is stored. If the bus is away, readers on other nodes cannot learn of the event. */
  noted(event: string, node: SessionHost): void;
  /** A frame of the command left. */
  executed(command: string, node: string): void;
}

/** The node that runs a session. */
export interface SessionHost {
  readonly world: World;
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly gate: Gate;
  readonly cluster: Cluster;
  readonly ownership: Ownership;
  readonly connection: Connection;
  readonly bus: { readonly keeps: boolean };
  pause(ms: number): Promise<void>;
  session(id: InstanceId): { receive(id: string): Promise<boolean> } | null;
}
