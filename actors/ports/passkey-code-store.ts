/** One-time codes for passkeys. A code is valid on every node. Times are the database's own. Durations are in milliseconds. */
import type { InstanceId } from '../model.ts';

export interface PasskeyCodeRow {
  readonly instanceId: InstanceId;
  /** True if the code was exchanged for a ticket. The hash is then that of the ticket. */
  readonly used: boolean;
}

export interface PasskeyCodeStore {
  /** Replaces the code or the ticket of the instance. */
  put(instanceId: InstanceId, hash: string, ms: number): Promise<void>;
  /** Returns the row if it is still valid, else null. */
  find(hash: string): Promise<PasskeyCodeRow | null>;
  /** Exchanges a code for a ticket. Returns false if the code is no longer valid. Of two concurrent calls, one succeeds. */
  use(hash: string, ticket: string, ms: number): Promise<boolean>;
  /** Ends the code or the ticket of the instance. Idempotent. */
  end(instanceId: InstanceId): Promise<void>;
}
