/** Storage of the platform's answers about pictures. */
import type { Claim, InstanceId, LookedPicture } from '../model.ts';

export interface PictureStore {
  /** Returns all stored answers for these people and groups, of any age. */
  find(instance: InstanceId, ids: readonly string[]): Promise<readonly LookedPicture[]>;
  /** Replaces the stored answer. Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, picture: LookedPicture): Promise<void>;
  /** Removes answers of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed answers. */
  expire(before: number, limit: number): Promise<number>;
}
