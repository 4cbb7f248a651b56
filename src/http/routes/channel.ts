/** Channels: made, listed, looked at, followed, changed and searched. Rows on admins stand beside this file. */
import { type Static, type TProperties, Type } from 'typebox';
import { channelViews, type Gateway, type InstanceId, reactionCodes, type Result } from '#actors/gateway.ts';
import { channelCodeOf, channelIdOf, channelView } from '#src/contract/views.ts';
import type { InvalidTexts } from '../invalid-text.ts';
import { type Address, type BodyLimit, mapResult, platformRefusals, type Refusals, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/channel.ts';
import { PhoneField, TransferFields } from '../schemas/channel.ts';
import { pictureBodyLimit, pictureRefusals, pictureSource } from './account.ts';

export const tag = 'newsletter';

const common = { credential: 'instance', tag } as const;

const badId = 'invalid newsletter id';

/** The refusals of rows that name a channel. */
export const channelRefusals: Refusals = {
  ...platformRefusals,
  invalid: { example: badId },
  notFound: { example: 'Channel not found' },
  forbidden: { example: 'the account is no admin of this channel' },
};

export const noChannel: InvalidTexts = { jid: badId, id: badId };

/** The field that `badId` leaves out. */
export const channelHint = (given: unknown): string =>
  given === undefined || given === '' ? 'jid is required' : 'jid is no id of a channel';

/** The channel that a body names; refused when it names none. */
export const namedChannel = ({ jid, id }: { readonly jid?: string; readonly id?: string }): Result<string> => {
  const channelId = channelIdOf(jid ?? id ?? '');
  return channelId === '' ? refuse('invalid', badId, { hint: channelHint(jid ?? id) }) : { ok: true, value: channelId };
};

interface ChangeRow<Fields extends TProperties> {
  readonly on: Address;
  readonly operationId: string;
  readonly summary: string;
  readonly fields: Fields;
  readonly invalidTexts?: InvalidTexts;
  readonly refusals?: Refusals;
  readonly bodyLimit?: BodyLimit;
  change(
    gateway: Gateway,
    id: InstanceId,
    channelId: string,
    body: Static<ReturnType<typeof Type.Object<Fields>>>,
  ): Promise<Result<unknown>>;
}

/** A row that changes something about one channel and answers that it is done. */
const changeRow = <Fields extends TProperties>({ fields, invalidTexts, refusals, change, ...row }: ChangeRow<Fields>): Route =>
  route({
    ...row,
    on: [row.on],
    ...common,
    body: Type.Object({ ...shape.channelFields, ...fields }),
    answer: shape.DoneAnswer,
    invalidTexts: { ...noChannel, ...invalidTexts },
    refusals: { ...channelRefusals, ...refusals },
    async run({ gateway, id, body }) {
      const given = body as unknown as Parameters<typeof change>[3] & Static<typeof shape.ChannelBody>;
      const channel = namedChannel(given);
      if (!channel.ok) return channel;
      return mapResult(await change(gateway, id, channel.value, given), () => ({ response: true }));
    },
  });

const followRow = (on: Address, operationId: string, summary: string, follow: boolean): Route =>
  changeRow({
    on,
    operationId,
    summary,
    fields: {},
    change: (gateway, id, channelId) => gateway.perform(id, 'channel.follow', { channelId, follow }),
  });

const muteRow = (on: Address, operationId: string, summary: string, mute: boolean): Route =>
  changeRow({
    on,
    operationId,
    summary,
    fields: {},
    change: (gateway, id, channelId) => gateway.perform(id, 'channel.mute', { channelId, mute }),
  });

const noName = 'name is required';
const named: InvalidTexts = { 'name:required': noName, 'name:minLength': noName, 'name:pattern': noName };
const noKey = 'key is required';
const badReactions = 'invalid reactionCodes';
const noImage = 'empty image source';
const badSearch = 'invalid payload';

const changeRows: readonly Route[] = [
  changeRow({
    on: 'POST /newsletter/name',
    operationId: 'renameChannel',
    summary: 'Rename a channel',
    fields: shape.NameField,
    invalidTexts: named,
    refusals: { invalid: { example: noName } },
    change: (gateway, id, channelId, { name }) =>
      gateway.perform(id, 'channel.change', { channelId, wish: { of: 'name', text: name.trim() } }),
  }),
  changeRow({
    on: 'POST /newsletter/description',
    operationId: 'describeChannel',
    summary: 'Replace the description of a channel; an empty one deletes it',
    fields: shape.DescriptionField,
    refusals: { invalid: { example: 'description is required' } },
    change: (gateway, id, channelId, { description }) =>
      gateway.perform(id, 'channel.change', { channelId, wish: { of: 'description', text: description } }),
  }),
  changeRow({
    on: 'POST /newsletter/settings',
    operationId: 'setChannelReactions',
    summary: 'Say which emojis followers of a channel may react with',
    fields: shape.ReactionsField,
    invalidTexts: { reactionCodes: badReactions },
    refusals: { invalid: { example: badReactions } },
    async change(gateway, id, channelId, { reactionCodes: written }) {
      const codes = reactionCodes.find((one) => one === written.trim().toLowerCase());
      if (codes === undefined) return refuse('invalid', badReactions);
      return gateway.perform(id, 'channel.change', { channelId, wish: { of: 'reactions', codes } });
    },
  }),
  changeRow({
    on: 'POST /newsletter/picture',
    operationId: 'setChannelPicture',
    summary: 'Set the picture of a channel; `remove` takes it away',
    fields: shape.PictureField,
    bodyLimit: pictureBodyLimit,
    invalidTexts: { 'picture:required': noImage },
    refusals: { ...pictureRefusals, invalid: { example: noImage } },
    async change(gateway, id, channelId, { picture }) {
      if (picture.trim() === '') return refuse('invalid', noImage);
      return gateway.setChannelPicture(id, channelId, pictureSource(picture));
    },
  }),
  changeRow({
    on: 'POST /newsletter/delete',
    operationId: 'deleteChannel',
    summary: 'Delete a channel of the account; this cannot be taken back',
    fields: {},
    change: (gateway, id, channelId) => gateway.perform(id, 'channel.delete', { channelId }),
  }),
];

export const channelRoutes: readonly Route[] = [
  route({
    on: ['POST /newsletter/create'],
    operationId: 'createChannel',
    ...common,
    summary: 'Make a channel',
    body: shape.CreateChannelBody,
    answer: shape.ChannelAnswer,
    bodyLimit: pictureBodyLimit,
    invalidTexts: named,
    refusals: { ...platformRefusals, ...pictureRefusals },
    run: async ({ gateway, id, body: { name, description = '', picture = '' } }) =>
      mapResult(await gateway.createChannel(id, { name: name.trim(), description, picture: picture.trim() }), (channel) => ({
        response: channelView(channel),
      })),
  }),
  route({
    on: ['GET /newsletter/list'],
    operationId: 'listChannels',
    ...common,
    summary: 'List the channels that the account follows',
    answer: shape.ChannelsAnswer,
    refusals: platformRefusals,
    run: async ({ gateway, id }) => mapResult(await gateway.listChannels(id), (channels) => ({ response: channels.map(channelView) })),
  }),
  route({
    on: ['POST /newsletter/info'],
    operationId: 'getChannel',
    ...common,
    summary: 'Show a channel as the platform knows it now; it need not be followed',
    body: shape.ChannelBody,
    answer: shape.ChannelAnswer,
    invalidTexts: noChannel,
    refusals: { ...platformRefusals, invalid: { example: badId }, notFound: { example: 'Channel not found' } },
    async run({ gateway, id, body }) {
      const channel = namedChannel(body);
      if (!channel.ok) return channel;
      return mapResult(await gateway.perform(id, 'channel.look', { by: 'id', key: channel.value }), (found) => ({
        response: channelView(found),
      }));
    },
  }),
  route({
    on: ['POST /newsletter/link'],
    operationId: 'previewChannel',
    ...common,
    summary: 'Show the channel behind a link, without following it',
    body: shape.LinkBody,
    answer: shape.ChannelAnswer,
    invalidTexts: { 'key:required': noKey, 'key:minLength': noKey },
    refusals: { ...platformRefusals, notFound: { example: 'Channel not found' } },
    async run({ gateway, id, body }) {
      const key = channelCodeOf(body.key);
      if (key === '') return refuse('invalid', body.key.trim() === '' ? noKey : 'key is no link of a channel');
      return mapResult(await gateway.perform(id, 'channel.look', { by: 'invite', key }), (found) => ({ response: channelView(found) }));
    },
  }),
  followRow('POST /newsletter/follow', 'followChannel', 'Follow a channel', true),
  followRow('POST /newsletter/unfollow', 'unfollowChannel', 'Stop following a channel', false),
  muteRow('POST /newsletter/mute', 'muteChannel', 'Mute a channel: the phone shows no notice of its posts', true),
  muteRow('POST /newsletter/unmute', 'unmuteChannel', 'Let the phone show notices of the posts of a channel again', false),
  ...changeRows,
  route({
    on: ['POST /newsletter/search'],
    operationId: 'findChannels',
    ...common,
    summary: 'Search the public directory of channels, or list it; in pages',
    body: shape.SearchBody,
    answer: shape.SearchAnswer,
    invalidTexts: { '*': badSearch },
    refusals: { ...platformRefusals, invalid: { example: badSearch } },
    async run({ gateway, id, body }) {
      const { searchText = '', view = 'RECOMMENDED', countryCodes = [], limit = 20 } = body;
      const wanted = channelViews.find((one) => one === view.trim().toUpperCase());
      if (wanted === undefined) return refuse('invalid', `view must be one of ${channelViews.join(', ')}`);
      const countries = countryCodes.map((code) => code.trim().toUpperCase());
      const wrong = countries.find((code) => !/^[A-Z]{2}$/.test(code));
      if (wrong !== undefined) return refuse('invalid', 'countryCodes must be countries of two letters each');
      const after = body.after ?? body.cursor ?? body.startCursor ?? body.start_cursor ?? '';
      const text = searchText.trim() === '' ? null : searchText.trim();
      const found = await gateway.perform(id, 'channel.find', { text, view: wanted, countries, limit, after });
      return mapResult(found, ({ channels, after: next }) => ({ response: { after: next, data: channels.map(channelView) } }));
    },
  }),
];

// Administration of a channel: invitations of admins, their rights, the owner.

const noPhone = 'phone is required';
const phone: InvalidTexts = { 'phone:required': noPhone, 'phone:minLength': noPhone };
const forbidden = { example: 'the account is not the owner of this channel' } as const;
const invalid = { example: noPhone } as const;
const conflict = { example: 'this person is an admin already' } as const;

const dropRow = (on: Address, operationId: string, summary: string, what: 'right' | 'invitation'): Route =>
  changeRow({
    on,
    operationId,
    summary,
    fields: PhoneField,
    invalidTexts: phone,
    refusals: { forbidden, invalid },
    change: (gateway, id, channelId, body) => gateway.perform(id, 'channel.dropAdmin', { channelId, person: String(body.phone), what }),
  });

export const channelAdminRoutes: readonly Route[] = [
  changeRow({
    on: 'POST /newsletter/admin/invite',
    operationId: 'inviteChannelAdmin',
    summary: 'Invite somebody to be an admin of a channel; the invitation is sent as a message',
    fields: PhoneField,
    invalidTexts: phone,
    refusals: { forbidden, invalid, conflict, limited: {} },
    change: (gateway, id, channelId, body) => gateway.inviteChannelAdmin(id, channelId, String(body.phone), body),
  }),
  changeRow({
    on: 'POST /newsletter/admin/accept',
    operationId: 'acceptChannelAdmin',
    summary: 'Accept an invitation to be an admin of a channel',
    fields: {},
    refusals: {
      notFound: { example: 'the account is not invited to be an admin of this channel' },
      conflict: { example: 'the invitation has run out' },
    },
    change: (gateway, id, channelId) => gateway.perform(id, 'channel.acceptAdmin', { channelId }),
  }),
  dropRow('POST /newsletter/admin/remove', 'removeChannelAdmin', 'Take the right of an admin from somebody', 'right'),
  dropRow('POST /newsletter/admin/revoke', 'revokeChannelAdmin', 'Take an invitation to be an admin back', 'invitation'),
  changeRow({
    on: 'POST /newsletter/owner/transfer',
    operationId: 'transferChannel',
    summary: 'Make an admin the owner of a channel; the account stays an admin, unless it quits',
    fields: TransferFields,
    invalidTexts: phone,
    refusals: { forbidden, invalid, conflict: { example: 'only an admin of the channel can become its owner' } },
    change: (gateway, id, channelId, { phone: person, quitAdmin = false }) =>
      gateway.perform(id, 'channel.transfer', { channelId, person: String(person), quit: quitAdmin }),
  }),
];
