/** One-time codes for passkeys. They count on every node. Times are the database's own; durations are milliseconds. */
import type { InstanceId } from '../model.ts';

export interface PasskeyCodeRow {
  readonly instanceId: InstanceId;
  /** The code was used: the hash is the one of its ticket. */
  readonly used: boolean;
}

export interface PasskeyCodeStore {
  /** Replaces the code of the instance, or its ticket. */
  put(instanceId: InstanceId, hash: string, ms: number): Promise<void>;
  /** Returns the row that still counts, or null. */
  find(hash: string): Promise<PasskeyCodeRow | null>;
  /** Puts a ticket in the place of a code. Returns false if the code does not count any more: of two calls at once one succeeds. */
  use(hash: string, ticket: string, ms: number): Promise<boolean>;
  /** Idempotent. */
  end(instanceId: InstanceId): Promise<void>;
}
