/** What the gateway offers on channels, beside their operations. */
import type { Channel, InstanceId, Result } from '../model.ts';

export interface ChannelFace {
  /** Channels that the account follows, as they are stored. The platform is asked when they were never listed for this account. */
  listChannels(id: InstanceId): Promise<Result<readonly Channel[]>>;
  /** `picture`: an address, a data URL or base64 of a picture; '' for none. */
  createChannel(
    id: InstanceId,
    wish: { readonly name: string; readonly description: string; readonly picture: string },
  ): Promise<Result<Channel>>;
  /** As `createChannel` takes a picture; '' takes the present one away. */
  setChannelPicture(id: InstanceId, channelId: string, picture: string): Promise<Result<null>>;
  /** Invites a person to be an admin, and sends the invitation as a message: the platform itself tells nobody. `payload`: what the client sent. */
  inviteChannelAdmin(id: InstanceId, channelId: string, person: string, payload: unknown): Promise<Result<null>>;
}
