/** What the gateway offers on people and groups: who exists. */
import type { InstanceId, Result } from '../model.ts';

export interface CheckedNumber {
  /** As the client wrote it. */
  readonly query: string;
  /** The id of the account or group; for a number without an account that of the number; '' for what makes no sense. */
  readonly chatId: string;
  readonly lid: string;
  /** Null when the platform did not say. */
  readonly exists: boolean | null;
  /** Of a verified business, as far as it is known. */
  readonly businessName: string;
  readonly groupName: string;
  /** Why there is no answer; '' when there is one. */
  readonly error: string;
}

export interface PeopleFace {
  /**
   * Which of these numbers and groups exist, in the order of the question. Refused as a whole with `limited` before anything is asked when the pace does
   * not allow it, with `invalid` when it never will, with `notSent` when the platform did not answer.
   */
  checkNumbers(id: InstanceId, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>>;
}
