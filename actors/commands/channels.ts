/** Commands on channels that take more than one request: the stored list, pictures, invitations of admins. */
import type { Gateway } from '../views.ts';
import { done, type Channel, type InstanceId, type Kept } from '../model.ts';
import type { Supervisor } from '../supervisor.ts';
import { perform } from './perform.ts';
import { portraitOf } from './portrait.ts';

type ChannelCommands = Pick<Gateway, 'listChannels' | 'createChannel' | 'setChannelPicture' | 'inviteChannelAdmin'>;

const plain = ({ created: _made, updated: _changed, ...channel }: Kept<'channel'>): Channel => channel;

export function channelCommands(supervisor: Supervisor, { send }: Pick<Gateway, 'send'>): ChannelCommands {
  const { ports } = supervisor;
  const stored = async (id: InstanceId): Promise<readonly Channel[]> => (await ports.definitions.all(id, 'channel')).map(plain);
  return {
    async listChannels(id) {
      const channels = await stored(id);
      if ((await ports.definitions.all(id, 'channelListing')).length > 0) return done(channels);
      return perform(supervisor, id, 'channel.refresh', { known: channels.map((channel) => channel.id) });
    },
    async createChannel(id, { name, description, picture }) {
      const jpeg = await portraitOf(ports, picture);
      return jpeg.ok ? perform(supervisor, id, 'channel.create', { name, description, jpeg: jpeg.value }) : jpeg;
    },
    async setChannelPicture(id, channelId, picture) {
      const jpeg = await portraitOf(ports, picture);
      return jpeg.ok ? perform(supervisor, id, 'channel.change', { channelId, wish: { of: 'picture', jpeg: jpeg.value } }) : jpeg;
    },
    async inviteChannelAdmin(id, channelId, person, payload) {
      const invited = await perform(supervisor, id, 'channel.inviteAdmin', { channelId, person });
      if (!invited.ok) return invited;
      const { expiresAt, name } = invited.value;
      const content = { kind: 'channelInvite', channel: channelId, name, expiresAt, text: '' } as const;
      const options = { delay: 0, readChat: false, readMessages: false, trackSource: '', trackId: '', async: false };
      const sent = await send(
        id,
        { number: person, content, replyTo: '', mentions: [], forward: false },
        { ...options, label: 'channelInvite', payload },
      );
      return sent.ok ? done(null) : sent;
    },
  };
}
