/** Storage of the keys under which sends are repeated. The journal writes them. */
import type { InstanceId, UsedSendKey } from '../model.ts';

export interface SendKeyStore {
  /** Null when the key was never used, or is gone. */
  find(instance: InstanceId, hash: string): Promise<UsedSendKey | null>;
  /** Removes keys of all instances that were used before this time (Unix milliseconds), at most `limit`. Answers how many. */
  expire(before: number, limit: number): Promise<number>;
}
