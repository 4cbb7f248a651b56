/** Gateway methods for groups, channels and businesses, in addition to the operations. */
import type { Channel, Group, InstanceId, Product, ProductWish, Result } from '../model.ts';
import type { GroupQuery } from '../ports.ts';

/** Gateway methods for groups, in addition to the operations. */
export interface GroupFace {
  /**
   * Returns the stored groups of the account, also without a connected session. Asks the platform if the groups were never listed, or with `force`,
   * which works once in some seconds.
   */
  listGroups(
    id: InstanceId,
    query: GroupQuery & { readonly force: boolean },
  ): Promise<Result<{ readonly groups: readonly Group[]; readonly total: number }>>;
  /**
   * Sets the picture of a group from a URL, a data URL or base64; '' removes it. Refuses like a file of a message if the picture is not valid.
   * Returns the group; null if the group is unknown.
   */
  setGroupPicture(id: InstanceId, groupId: string, source: string): Promise<Result<Group | null>>;
}

/** Gateway methods for channels, in addition to the operations. */
export interface ChannelFace {
  /** Returns the stored channels that the account follows. Asks the platform if they were never listed for this account. */
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

export interface ProductInput {
  /** The id of the product to change; null for a new product. */
  readonly id: string | null;
  readonly product: ProductWish;
  /** A new picture: a URL, a data URL or base64; null for none. */
  readonly picture: string | null;
}

export interface BusinessFace {
  /** Adds a product to the account's catalog, or changes one. Refuses like a file of a message if the picture is not valid. */
  saveProduct(id: InstanceId, input: ProductInput): Promise<Result<Product>>;
}
