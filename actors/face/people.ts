/** What the gateway offers on people and groups: who exists. */
import type { Chat, InstanceId, Picture, PictureKind, Result } from '../model.ts';
import type { NamedGroup } from '../ports.ts';

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

/** Everything that is known of one chat. */
export interface ChatDetails {
  readonly chatId: string;
  readonly lid: string;
  /** Null when there is no such chat yet. */
  readonly chat: Chat | null;
  /** What was looked up now; null when the platform would not say, or the pace does not allow it. */
  readonly picture: (Picture & { readonly kind: PictureKind }) | null;
  /** '' for what is no verified business, null when that is not known. */
  readonly businessName: string | null;
  /** Groups that both are in; none for groups. */
  readonly commonGroups: readonly NamedGroup[];
}

export interface PeopleFace {
  /** Sets the account's own picture, as `setGroupPicture` does for a group. */
  setOwnPicture(id: InstanceId, source: string): Promise<Result<null>>;
  /**
   * The picture of a person or group as far as it is known, else as the platform says. `force`: asks again, at most every 20 s. Refused: `limited` by the
   * pace of pictures.
   */
  picture(id: InstanceId, number: string, kind: PictureKind, force: boolean): Promise<Result<Picture>>;
  /** Refused with `notFound` for a number without an account; what cannot be learned now is left out. */
  chatDetails(id: InstanceId, number: string, kind: PictureKind): Promise<Result<ChatDetails>>;
  /**
   * Which of these numbers and groups exist, in the order of the question. Refused as a whole with `limited` before anything is asked when the pace does
   * not allow it, with `invalid` when it never will, with `notSent` when the platform did not answer.
   */
  checkNumbers(id: InstanceId, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>>;
}
