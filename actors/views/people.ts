/** Gateway methods for people, groups, channels and businesses, in addition to the operations. */
import type { Channel, Chat, Contact, Group, InstanceId, Picture, PictureKind, Product, ProductWish, Result } from '../model.ts';
import type { ContactPage, ContactQuery, GroupQuery, NamedGroup } from '../ports.ts';

// Gateway methods for people and groups: existence, pictures and details.

export interface CheckedNumber {
  /** The number as the client wrote it. */
  readonly query: string;
  /** The chat id of the account or group. For a number without an account, the chat id that the number would have; '' if `query` is not valid. */
  readonly chatId: string;
  readonly lid: string;
  /** Null if the platform gave no answer, or if only the LID of a person is known. */
  readonly exists: boolean | null;
  /** The name of a verified business, if it is known. */
  readonly businessName: string;
  readonly groupName: string;
  /** The reason why `query` cannot be checked, or why a group does not count as existing; '' otherwise. */
  readonly error: string;
}

/** All known facts about one chat. */
export interface ChatDetails {
  readonly chatId: string;
  readonly lid: string;
  /** The stored chat; null if there is none yet. */
  readonly chat: Chat | null;
  /** The result of the look-up of the picture; null if the platform refused the look-up, or if the rate limit does not allow it. */
  readonly picture: (Picture & { readonly kind: PictureKind }) | null;
  /** The business name; '' for an account that is no verified business, null if unknown. */
  readonly businessName: string | null;
  /** Groups in which both the account and the person are members. Empty for groups. */
  readonly commonGroups: readonly NamedGroup[];
}

export interface PeopleMethods {
  /** Sets the account's own picture, as `setGroupPicture` does for a group. */
  setOwnPicture(id: InstanceId, source: string): Promise<Result<null>>;
  /**
   * Returns the stored picture of a person or group, or asks the platform. `force` asks again, at most every 20 s. Refuses with
   * `limited` if the rate limit of pictures is exceeded.
   */
  picture(id: InstanceId, number: string, kind: PictureKind, force: boolean): Promise<Result<Picture>>;
  /** Returns the known facts of a chat. Facts that cannot be looked up now are left out. Refuses a number without an account with `notFound`. */
  chatDetails(id: InstanceId, number: string, kind: PictureKind): Promise<Result<ChatDetails>>;
  /**
   * Checks which numbers and groups exist, in the order of the query. If one look-up fails, the whole call is refused. `limited`: the rate limit does not
   * allow all look-ups now. `invalid`: the rate limit never allows so many. `notSent`: the platform did not answer.
   */
  checkNumbers(id: InstanceId, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>>;
}

/** Gateway methods for the address book. */
export interface ContactMethods {
  contacts(id: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Saves a person in the phone's address book under a name, or renames the person. An unknown number is looked up first. */
  saveContact(id: InstanceId, number: string, name: string): Promise<Result<Contact>>;
  /** Removes a person from the address book, and returns the removed contact. Refuses with `notFound` for a person outside the address book. */
  removeContact(id: InstanceId, number: string): Promise<Result<Contact>>;
}

// Gateway methods for groups, channels and businesses, in addition to the operations.

/** Gateway methods for groups, in addition to the operations. */
export interface GroupMethods {
  /**
   * Returns the stored groups of the account, also without a connected session. Queries the platform first if the groups were never listed, or with
   * `force`. A second `force` within `Policy.groups.forceEvery` has no effect.
   */
  listGroups(
    id: InstanceId,
    query: GroupQuery & { readonly force: boolean },
  ): Promise<Result<{ readonly groups: readonly Group[]; readonly total: number }>>;
  /**
   * Sets the picture of a group from a URL, a data URL or base64; '' removes the picture. Refuses an invalid picture as `Portraits.take` does.
   * Returns the group; null if the group is unknown.
   */
  setGroupPicture(id: InstanceId, groupId: string, source: string): Promise<Result<Group | null>>;
}

/** Gateway methods for channels, in addition to the operations. */
export interface ChannelMethods {
  /** Returns the stored channels that the account follows. Queries the platform first if the channels were never listed. */
  listChannels(id: InstanceId): Promise<Result<readonly Channel[]>>;
  /** Creates a channel. `picture`: a URL, a data URL or base64; '' for none. */
  createChannel(
    id: InstanceId,
    wish: { readonly name: string; readonly description: string; readonly picture: string },
  ): Promise<Result<Channel>>;
  /** Sets the picture of a channel, given as in `createChannel`; '' removes the picture. */
  setChannelPicture(id: InstanceId, channelId: string, picture: string): Promise<Result<null>>;
  /**
   * Invites a person to be an admin and sends the invitation as a message, because the platform does not notify the person. `payload`: the client's
   * request.
   */
  inviteChannelAdmin(id: InstanceId, channelId: string, person: string, payload: unknown): Promise<Result<null>>;
}

// Gateway methods for businesses, in addition to the operations.

interface ProductInput {
  /** The id of the product to change; null for a new product. */
  readonly id: string | null;
  readonly product: ProductWish;
  /** A new picture: a URL, a data URL or base64; null for none. */
  readonly picture: string | null;
}

export interface BusinessMethods {
  /** Adds a product to the account's catalog, or changes the product with `input.id`. Refuses an invalid picture as `Portraits.take` does. */
  saveProduct(id: InstanceId, input: ProductInput): Promise<Result<Product>>;
}
