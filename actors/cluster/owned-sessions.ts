/** Operations of a node on the sessions of its leases. */
import type { Claim, InstanceId } from '../model.ts';
import type { TakeCause } from '../ports.ts';
import type { Departure } from './departures.ts';

export interface OwnedSessions {
  /**
   * Reads the data of taken instances. Resolves with a function that begins their sessions. The caller calls this function when the node owns the
   * instances.
   */
  prepare(claims: readonly Claim[]): Promise<() => void>;
  /**
   * Resolves when the session is closed, its data is stored, and none of its work is running. With `hurry`, the lease is about to end, and nothing
   * else is waited for. Never rejects.
   */
  close(id: InstanceId, hurry: boolean): Promise<void>;
  /** Returns true if the instance needs no owner, judged from memory. */
  isIdle(id: InstanceId): boolean;
  /** Returns true if the instance is being paired by a person, judged from memory. */
  isPairing(id: InstanceId): boolean;
  /** Starts or stops to take commands for the instance from the bus. */
  serve(id: InstanceId, here: boolean): void;
  /** Returns true if this node takes commands for the instance from the bus. */
  isServed(id: InstanceId): boolean;
  /** Resolves with true if the next owner reserves a place for the session, or cannot be asked. Never rejects. */
  offer(departure: Departure): Promise<boolean>;
  /**
   * Asks the next owner to take an instance that was given back. Resolves when its session is connected on that node, or after some seconds. Never
   * rejects.
   */
  handOver(departure: Departure, cause: TakeCause): Promise<void>;
  /** Returns the instances with events or messages that wait to be sent. */
  unsent(): Promise<ReadonlySet<InstanceId>>;
}
