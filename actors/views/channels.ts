/** Gateway methods for channels, in addition to the operations. */
import type { Channel, InstanceId, Result } from '../model.ts';

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
