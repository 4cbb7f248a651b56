/** Commands on groups, channels and catalogs that take more than one request: stored lists, pictures, invitations of admins. */
import { type Channel, done, type InstanceId, type Kept, unknownInstance } from '../model.ts';
import { type Cells, perform, portraitOf, type Waker, type WithPolicy, type WithPorts } from './host.ts';
import type { BusinessFace, ChannelFace, GroupFace, MessageFace } from '../views.ts';

/** The parts of the supervisor that these commands need. */
type Host = Cells & Waker & WithPorts<'definitions' | 'groups' | 'portraits' | 'time'> & WithPolicy<'groups'>;

// Commands on groups that take more than one request: the stored list, and pictures.

export function groupCommands(host: Host): GroupFace {
  const { ports, policy } = host;
  /** The time of the last forced request to the platform. In Unix milliseconds. */
  const forced = new WeakMap<object, number>();
  const mayForce = (cell: object): boolean => ports.time.monotonic() - (forced.get(cell) ?? -Infinity) >= policy.groups.forceEvery;
  return {
    async listGroups(id, { force, ...query }) {
      const cell = host.cell(id);
      if (!cell) return unknownInstance;
      const isForced = force && mayForce(cell);
      if (isForced) forced.set(cell, ports.time.monotonic());
      if (isForced || (await ports.groups.listedAt(id)) === null) {
        const listed = await perform(host, id, 'group.refresh', null);
        if (!listed.ok) return listed;
      }
      return done(await ports.groups.find(id, query));
    },
    async setGroupPicture(id, groupId, source) {
      const picture = await portraitOf(ports, source);
      return picture.ok ? perform(host, id, 'group.picture', { groupId, jpeg: picture.value }) : picture;
    },
  };
}

// Commands on channels that take more than one request: the stored list, pictures, invitations of admins.

const plain = ({ created: _made, updated: _changed, ...channel }: Kept<'channel'>): Channel => channel;

export function channelCommands(host: Host, { send }: Pick<MessageFace, 'send'>): ChannelFace {
  const { ports } = host;
  const stored = async (id: InstanceId): Promise<readonly Channel[]> => (await ports.definitions.all(id, 'channel')).map(plain);
  return {
    async listChannels(id) {
      const channels = await stored(id);
      if ((await ports.definitions.all(id, 'channelListing')).length > 0) return done(channels);
      return perform(host, id, 'channel.refresh', { known: channels.map((channel) => channel.id) });
    },
    async createChannel(id, { name, description, picture }) {
      const jpeg = await portraitOf(ports, picture);
      return jpeg.ok ? perform(host, id, 'channel.create', { name, description, jpeg: jpeg.value }) : jpeg;
    },
    async setChannelPicture(id, channelId, picture) {
      const jpeg = await portraitOf(ports, picture);
      return jpeg.ok ? perform(host, id, 'channel.change', { channelId, wish: { of: 'picture', jpeg: jpeg.value } }) : jpeg;
    },
    async inviteChannelAdmin(id, channelId, person, payload) {
      const invited = await perform(host, id, 'channel.inviteAdmin', { channelId, person });
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

/** Commands on catalogs that take more than one request: products with their pictures. */
export function businessCommands(host: Host): BusinessFace {
  const { portraits } = host.ports;
  return {
    async saveProduct(id, { id: productId, product, picture }) {
      const taken = picture === null ? done(null) : await portraits.take(picture, 'product');
      return taken.ok ? perform(host, id, 'catalog.save', { id: productId, product, jpeg: taken.value }) : taken;
    },
  };
}
