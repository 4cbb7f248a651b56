/** The host of the cluster code, which is the gateway on the same node, and the commands that travel between nodes. */
import type { InstanceId, Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { ActorRow } from '../views/inspector.ts';
import type { ClusterStepsInput } from './inspector.ts';
import type { SharedSignIns } from './sign-ins.ts';

export interface ClusterHost {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  /** Start of the process. In Unix milliseconds. */
  readonly since: number;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  /** Wakes a hibernated session that has messages in its queue. */
  readonly wake: (cell: Cell) => void;
  /** Forgets an instance that is gone. */
  readonly forget: (id: InstanceId) => void;
  /** Ends the work for an instance outside its cell and clears its caches, because another node becomes its owner. May be called more than once. */
  readonly forgetBeside: (id: InstanceId) => void;
  /** Called after this node took instances and began their sessions. */
  readonly begun: () => void;
  /** Implements the method of `MemoryHost`. */
  readonly refreshAdmin: () => Promise<void>;
  /** Implements the method of `MemoryHost`. */
  readonly refreshSignIns: () => Promise<void>;
  /** Returns the row of the inspector for an instance of this node. Returns null if the instance is gone. */
  readonly row: (id: InstanceId) => ActorRow | null;
  /** Watches the steps that this node takes. */
  readonly watchHere: ClusterStepsInput['watchHere'];
}

/** A command on an instance, as the receiving node holds it. */
export interface Command<T> {
  readonly id: InstanceId;
  readonly method: string;
  /** Returns the arguments that travel to the owner, if another node owns the instance. A refusal is the answer of the command. */
  args(): Promise<Result<readonly unknown[]>>;
  /** Runs the command on this node. */
  here(): Promise<T>;
}

/** The credentials of operators. In a cluster each node reads them again periodically, because another node may have changed them. */
export interface OperatorAccess {
  /** Reads the admin token again. Returns true if it changed. */
  refresh(): Promise<boolean>;
  readonly signIns: Pick<SharedSignIns, 'look'>;
}
