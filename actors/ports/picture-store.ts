/** Storage of what the platform said of pictures. */
import type { Claim, InstanceId, LookedPicture } from '../model.ts';

export interface PictureStore {
  /** Everything that is known of these people and groups, however old. */
  find(instance: InstanceId, ids: readonly string[]): Promise<readonly LookedPicture[]>;
  /** Replaces what was known. Rejects with `EpochLost` when the claim is void. */
  save(claim: Claim, picture: LookedPicture): Promise<void>;
  /** Removes answers of all instances from before this time (Unix milliseconds), at most `limit`. Answers how many. */
  expire(before: number, limit: number): Promise<number>;
}
