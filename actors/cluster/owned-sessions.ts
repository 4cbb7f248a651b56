/** What a node does with the sessions of its leases. */
import type { Claim, InstanceId } from '../model.ts';
import type { TakeCause } from '../ports.ts';
import type { Departure } from './departures.ts';

export interface OwnedSessions {
  /** Reads what is needed of instances that were taken. Answers with what begins their sessions, as soon as this node owns them. */
  prepare(claims: readonly Claim[]): Promise<() => void>;
  /**
   * Resolves when the session is closed, everything of it stored, and nothing of it left running. `hurry`: the lease ends, and nothing else is waited
   * for. Never rejects.
   */
  close(id: InstanceId, hurry: boolean): Promise<void>;
  /** Whether the instance needs no owner, as far as memory tells. */
  isIdle(id: InstanceId): boolean;
  /** Whether somebody looks at its picture or types its code, as far as memory tells. */
  isPairing(id: InstanceId): boolean;
  /** Commands for the instance come here from now on, or do not any more. */
  serve(id: InstanceId, here: boolean): void;
  /** Returns true if commands for the instance come here. */
  isServed(id: InstanceId): boolean;
  /** Returns true if that node keeps a place for the session, or cannot be asked. Never rejects. */
  offer(departure: Departure): Promise<boolean>;
  /** The instance was given back, for that node to take it. Resolves when its session is connected there, or after some seconds. Never rejects. */
  handOver(departure: Departure, cause: TakeCause): Promise<void>;
  /** Instances for which something waits to be delivered or sent. */
  unsent(): Promise<ReadonlySet<InstanceId>>;
}
