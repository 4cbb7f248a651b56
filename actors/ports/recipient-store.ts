/** Storage of what is known of numbers: lookups, and the messages that were exchanged. */
import type { Claim, InstanceId } from '../model.ts';

export interface StoredRecipient {
  /** The id of the account; '' when the number has none. */
  readonly chatId: string;
  /** What it calls itself as a verified business, when it was looked up last; '' for none, null when it never was. */
  readonly businessName: string | null;
  /** Unix milliseconds of the lookup; null when messages show that the account is there. */
  readonly at: number | null;
}

export interface RecipientStore {
  /**
   * What is known of numbers, each given in its forms (ids of chats, the most likely one first): a chat that has received messages, or in which one was
   * delivered; else the lookup, when it is not older than `knownSince`, or `absentSince` for a number without an account. Null: nothing.
   */
  find(
    instance: InstanceId,
    numbers: readonly (readonly string[])[],
    limits: { readonly knownSince: number; readonly absentSince: number },
  ): Promise<readonly (StoredRecipient | null)[]>;
  /** Keeps the answer of a lookup for each form. Rejects with `EpochLost` when the claim is void. */
  save(claim: Claim, forms: readonly (Omit<StoredRecipient, 'at'> & { readonly form: string })[], at: number): Promise<void>;
  /** Removes lookups of all instances from before this time (Unix milliseconds), at most `limit`. Answers how many. */
  expire(before: number, limit: number): Promise<number>;
}
