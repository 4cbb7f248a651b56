/** Storage of known numbers: look-up results, and evidence from exchanged messages. */
import type { Claim, InstanceId } from '../model.ts';

export interface StoredRecipient {
  /** The chat id of the account; '' if the number has no account. */
  readonly chatId: string;
  /** The name as a verified business at the last look-up; '' for none, null without a look-up. */
  readonly businessName: string | null;
  /** The time of the look-up. Unix milliseconds; null if exchanged messages prove that the account exists. */
  readonly at: number | null;
}

export interface RecipientStore {
  /**
   * Returns the stored knowledge of numbers; null for none. Each number comes in its forms (chat ids, the most likely first). A chat with a received
   * or delivered message counts first, then a look-up. A look-up must not be older than `knownSince`, or `absentSince` for a number without an
   * account.
   */
  find(
    instance: InstanceId,
    numbers: readonly (readonly string[])[],
    limits: { readonly knownSince: number; readonly absentSince: number },
  ): Promise<readonly (StoredRecipient | null)[]>;
  /** Stores the result of a look-up for each form. Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, forms: readonly (Omit<StoredRecipient, 'at'> & { readonly form: string })[], at: number): Promise<void>;
  /** Removes look-ups of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed look-ups. */
  expire(before: number, limit: number): Promise<number>;
}
