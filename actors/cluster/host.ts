/** What the cluster needs of the gateway that runs on its node, and the commands that go from one node to another. */
import type { Dispatcher } from '../events/dispatcher.ts';
import type { InstanceId, Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { SupervisedWorkers } from '../supervised-workers.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Registry } from '../supervisor/registry.ts';

export interface ClusterHost {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly workers: SupervisedWorkers;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  /** When the process started. */
  readonly since: number;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  wake(cell: Cell): void;
  /** The instance is gone. */
  forget(id: InstanceId): void;
  /** The instance becomes another node's: what is done for it beside its cell ends, and what is remembered of it is forgotten. Called more than once. */
  forgetBeside(id: InstanceId): void;
}

/** A command on an instance, as the node that got it has it. */
export interface Command<T> {
  readonly id: InstanceId;
  readonly method: string;
  /** Answers with what travels to the owner, should the instance be another node's; a refusal is the answer. */
  args(): Promise<Result<readonly unknown[]>>;
  /** Runs it on this node. */
  here(): Promise<T>;
}

/** Runs commands of other nodes. */
export interface Performer {
  knows(method: string): boolean;
  /** Only methods that it knows. */
  run(method: string, args: readonly unknown[]): Promise<unknown>;
}
