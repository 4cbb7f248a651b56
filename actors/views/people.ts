/** Gateway methods for people: existence, pictures, details, and the address book. */
import type { Chat, Contact, InstanceId, Picture, PictureKind, Result } from '../model.ts';
import type { ContactPage, ContactQuery, NamedGroup } from '../ports.ts';

// Gateway methods for people and groups: existence, pictures and details.

export interface CheckedNumber {
  /** The number as the client wrote it. */
  readonly query: string;
  /** The id of the account or group. A number without an account has the id of the number; '' if the number is not valid. */
  readonly chatId: string;
  readonly lid: string;
  /** Null if the platform gave no answer. */
  readonly exists: boolean | null;
  /** The name of a verified business, if it is known. */
  readonly businessName: string;
  readonly groupName: string;
  /** The reason why there is no answer; '' if there is one. */
  readonly error: string;
}

/** All known facts about one chat. */
export interface ChatDetails {
  readonly chatId: string;
  readonly lid: string;
  /** The stored chat; null if there is none yet. */
  readonly chat: Chat | null;
  /** The result of the look-up; null if the platform refused it, or the rate limit does not allow it. */
  readonly picture: (Picture & { readonly kind: PictureKind }) | null;
  /** The business name; '' for an account that is no verified business, null if unknown. */
  readonly businessName: string | null;
  /** Groups in which both the account and the person are members. Empty for groups. */
  readonly commonGroups: readonly NamedGroup[];
}

export interface PeopleFace {
  /** Sets the account's own picture, as `setGroupPicture` does for a group. */
  setOwnPicture(id: InstanceId, source: string): Promise<Result<null>>;
  /**
   * Returns the stored picture of a person or group, or asks the platform. `force` asks again, at most every 20 s. Refuses with `limited` beyond the
   * rate limit of pictures.
   */
  picture(id: InstanceId, number: string, kind: PictureKind, force: boolean): Promise<Result<Picture>>;
  /** Returns the known facts of a chat. Facts that cannot be looked up now are left out. Refuses a number without an account with `notFound`. */
  chatDetails(id: InstanceId, number: string, kind: PictureKind): Promise<Result<ChatDetails>>;
  /**
   * Checks which numbers and groups exist, in the order of the query. The call is refused as a whole. `limited`: the rate limit does not allow it
   * now. `invalid`: the rate limit will never allow it. `notSent`: the platform did not answer.
   */
  checkNumbers(id: InstanceId, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>>;
}

/** Gateway methods for the address book. */
export interface ContactFace {
  contacts(id: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Saves a person in the phone's address book under a name, or renames the person. An unknown number is looked up first. */
  saveContact(id: InstanceId, number: string, name: string): Promise<Result<Contact>>;
  /** Removes a person from the address book, and returns the removed contact. Refuses with `notFound` for a person outside the address book. */
  removeContact(id: InstanceId, number: string): Promise<Result<Contact>>;
}
