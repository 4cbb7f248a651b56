/** The host of the cluster code, which is the gateway on the same node, and the commands that travel between nodes. */
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { InstanceId, Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Registry } from '../supervisor/registry.ts';

export interface ClusterHost {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  /** Start of the process. In Unix milliseconds. */
  readonly since: number;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  wake(cell: Cell): void;
  /** Forgets an instance that is gone. */
  forget(id: InstanceId): void;
  /** Ends the work for an instance outside its cell and clears its caches, because another node becomes its owner. May be called more than once. */
  forgetBeside(id: InstanceId): void;
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

/** Runs commands of other nodes. */
export interface Performer {
  knows(method: string): boolean;
  /** Runs a method. The caller must check `knows` first. */
  run(method: string, args: readonly unknown[]): Promise<unknown>;
}
