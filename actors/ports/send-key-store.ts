/** Queries of used idempotency keys. The journal writes the keys. */
import type { InstanceId, UsedSendKey } from '../model.ts';

export interface SendKeyStore {
  /** Returns the used key; null if the key was never used or has been removed. */
  find(instance: InstanceId, hash: string): Promise<UsedSendKey | null>;
  /** Removes keys of all instances that were used before this time (Unix milliseconds), at most `limit`. Returns the number of removed keys. */
  expire(before: number, limit: number): Promise<number>;
}
