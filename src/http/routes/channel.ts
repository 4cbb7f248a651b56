/** Channels: create, list, follow, change and search them. Routes about admins are at the end of this file. */
import type { Static, TSchema, TUnknown } from 'typebox';
import { channelViews, type InputOf, type OperationName, reactionCodes, type Result } from '#actors/gateway.ts';
import { channelCodeOf, channelIdOf, channelView } from '#src/contract/views.ts';
import type { InvalidTexts } from '../body.ts';
import {
  type Address,
  mapResult,
  type OperationSpec,
  performs,
  platformRefusals,
  type Refusals,
  type Refused,
  refuse,
  type Route,
  route,
} from '../route.ts';
import * as shape from '../schemas/channel.ts';
import { pictureBodyLimit, pictureRefusals, pictureSource } from './account.ts';

const tag = 'newsletter';

const common = { credential: 'instance', tag } as const;

const badId = 'invalid newsletter id';

/** The refusals of routes whose request names a channel. */
const channelRefusals: Refusals = {
  ...platformRefusals,
  invalid: { example: badId },
  notFound: { example: 'Channel not found' },
  forbidden: { example: 'the account is no admin of this channel' },
};

const noChannel: InvalidTexts = { jid: badId, id: badId };

/** Returns the hint that names the field, because the text of `badId` does not. */
const channelHint = (given: unknown): string => (given === undefined || given === '' ? 'jid is required' : 'jid is no id of a channel');

/** Returns the channel of a body. Refuses a body without a channel. */
const namedChannel = ({ jid, id }: { readonly jid?: string; readonly id?: string }): Result<string> => {
  const channelId = channelIdOf(jid ?? id ?? '');
  return channelId === '' ? refuse('invalid', badId, { hint: channelHint(jid ?? id) }) : { ok: true, value: channelId };
};

type RowOf<Name extends OperationName, Body extends TSchema, Answer extends TSchema> = OperationSpec<
  Name,
  TUnknown,
  Body,
  TUnknown,
  Answer
>;

interface ChannelRow<Name extends OperationName, Body extends TSchema, Answer extends TSchema> extends Omit<
  RowOf<Name, Body, Answer>,
  'on' | 'tag' | 'input'
> {
  readonly on: Address;
  input(channelId: string, body: Static<Body>): InputOf<Name> | Refused;
}

/** Makes a route about the channel that the body names. */
export const channelRow = <Name extends OperationName, Body extends TSchema, Answer extends TSchema>({
  on,
  input,
  invalidTexts,
  refusals,
  ...row
}: ChannelRow<Name, Body, Answer>): Route =>
  performs<Name, Answer, TUnknown, Body>({
    ...row,
    on: [on],
    tag,
    invalidTexts: { ...noChannel, ...invalidTexts },
    refusals: { ...channelRefusals, ...refusals },
    input({ body }) {
      const channel = namedChannel(body as Static<typeof shape.ChannelBody>);
      return channel.ok ? input(channel.value, body) : channel;
    },
  });

/** The answer of a route that reports only success. */
export const done = { answer: shape.DoneAnswer, shown: () => ({ response: true }) } as const;

const followRow = (on: Address, operationId: string, summary: string, follow: boolean): Route =>
  channelRow({
    on,
    operationId,
    summary,
    body: shape.ChannelBody,
    operation: 'channel.follow',
    input: (channelId) => ({ channelId, follow }),
    ...done,
  });

const muteRow = (on: Address, operationId: string, summary: string, mute: boolean): Route =>
  channelRow({
    on,
    operationId,
    summary,
    body: shape.ChannelBody,
    operation: 'channel.mute',
    input: (channelId) => ({ channelId, mute }),
    ...done,
  });

const noName = 'name is required';
const named: InvalidTexts = { 'name:required': noName, 'name:minLength': noName, 'name:pattern': noName };
const noKey = 'key is required';
const badReactions = 'invalid reactionCodes';
const noImage = 'empty image source';
const badSearch = 'invalid payload';

const changeRows: readonly Route[] = [
  channelRow({
    on: 'POST /newsletter/name',
    operationId: 'renameChannel',
    summary: 'Rename a channel',
    body: shape.NameBody,
    invalidTexts: named,
    refusals: { invalid: { example: noName } },
    operation: 'channel.change',
    input: (channelId, { name }) => ({ channelId, wish: { of: 'name', text: name.trim() } }),
    ...done,
  }),
  channelRow({
    on: 'POST /newsletter/description',
    operationId: 'describeChannel',
    summary: 'Replace the description of a channel. An empty text deletes it',
    body: shape.DescriptionBody,
    refusals: { invalid: { example: 'description is required' } },
    operation: 'channel.change',
    input: (channelId, { description }) => ({ channelId, wish: { of: 'description', text: description } }),
    ...done,
  }),
  channelRow({
    on: 'POST /newsletter/settings',
    operationId: 'setChannelReactions',
    summary: 'Say which emojis followers of a channel may react with',
    body: shape.ReactionsBody,
    invalidTexts: { reactionCodes: badReactions },
    refusals: { invalid: { example: badReactions } },
    operation: 'channel.change',
    input(channelId, { reactionCodes: written }) {
      const codes = reactionCodes.find((one) => one === written.trim().toLowerCase());
      return codes === undefined ? refuse('invalid', badReactions) : { channelId, wish: { of: 'reactions', codes } };
    },
    ...done,
  }),
  route({
    on: ['POST /newsletter/picture'],
    operationId: 'setChannelPicture',
    ...common,
    summary: 'Set the picture of a channel. `remove` deletes it',
    body: shape.PictureBody,
    answer: shape.DoneAnswer,
    bodyLimit: pictureBodyLimit,
    invalidTexts: { ...noChannel, 'picture:required': noImage },
    refusals: { ...channelRefusals, ...pictureRefusals, invalid: { example: noImage } },
    async run({ gateway, id, body }) {
      const channel = namedChannel(body);
      if (!channel.ok) return channel;
      if (body.picture.trim() === '') return refuse('invalid', noImage);
      return mapResult(await gateway.setChannelPicture(id, channel.value, pictureSource(body.picture)), done.shown);
    },
  }),
  channelRow({
    on: 'POST /newsletter/delete',
    operationId: 'deleteChannel',
    summary: 'Delete a channel of the account. This cannot be undone',
    body: shape.ChannelBody,
    operation: 'channel.delete',
    input: (channelId) => ({ channelId }),
    ...done,
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
  performs({
    on: ['POST /newsletter/info'],
    operationId: 'getChannel',
    tag,
    summary: 'Query a channel from the platform. The account need not follow it',
    body: shape.ChannelBody,
    answer: shape.ChannelAnswer,
    invalidTexts: noChannel,
    refusals: { invalid: { example: badId }, notFound: { example: 'Channel not found' } },
    operation: 'channel.look',
    input({ body }) {
      const channel = namedChannel(body);
      return channel.ok ? { by: 'id', key: channel.value } : channel;
    },
    shown: (found) => ({ response: channelView(found) }),
  }),
  performs({
    on: ['POST /newsletter/link'],
    operationId: 'previewChannel',
    tag,
    summary: 'Show the channel behind a link, without following it',
    body: shape.LinkBody,
    answer: shape.ChannelAnswer,
    invalidTexts: { 'key:required': noKey, 'key:minLength': noKey },
    refusals: { notFound: { example: 'Channel not found' } },
    operation: 'channel.look',
    input({ body }) {
      const key = channelCodeOf(body.key);
      if (key === '') return refuse('invalid', body.key.trim() === '' ? noKey : 'key is no link of a channel');
      return { by: 'invite', key };
    },
    shown: (found) => ({ response: channelView(found) }),
  }),
  followRow('POST /newsletter/follow', 'followChannel', 'Follow a channel', true),
  followRow('POST /newsletter/unfollow', 'unfollowChannel', 'Stop following a channel', false),
  muteRow('POST /newsletter/mute', 'muteChannel', 'Mute a channel: the phone shows no notice of its posts', true),
  muteRow('POST /newsletter/unmute', 'unmuteChannel', 'Let the phone show notices of the posts of a channel again', false),
  ...changeRows,
  performs({
    on: ['POST /newsletter/search'],
    operationId: 'findChannels',
    tag,
    summary: 'Search or list the public directory of channels, in pages',
    body: shape.SearchBody,
    answer: shape.SearchAnswer,
    invalidTexts: { '*': badSearch },
    refusals: { invalid: { example: badSearch } },
    operation: 'channel.find',
    input({ body }) {
      const { searchText = '', view = 'RECOMMENDED', countryCodes = [], limit = 20 } = body;
      const wanted = channelViews.find((one) => one === view.trim().toUpperCase());
      if (wanted === undefined) return refuse('invalid', `view must be one of ${channelViews.join(', ')}`);
      const countries = countryCodes.map((code) => code.trim().toUpperCase());
      const wrong = countries.find((code) => !/^[A-Z]{2}$/.test(code));
      if (wrong !== undefined) return refuse('invalid', 'countryCodes must be countries of two letters each');
      const after = body.after ?? body.cursor ?? body.startCursor ?? body.start_cursor ?? '';
      const text = searchText.trim() === '' ? null : searchText.trim();
      return { text, view: wanted, countries, limit, after };
    },
    shown: ({ channels, after }) => ({ response: { after, data: channels.map(channelView) } }),
  }),
];

// Administration of a channel: invitations of admins, their rights, the owner.

const noPhone = 'phone is required';
const phone: InvalidTexts = { 'phone:required': noPhone, 'phone:minLength': noPhone };
const forbidden = { example: 'the account is not the owner of this channel' } as const;
const invalid = { example: noPhone } as const;
const conflict = { example: 'this person is an admin already' } as const;

const dropRow = (on: Address, operationId: string, summary: string, what: 'right' | 'invitation'): Route =>
  channelRow({
    on,
    operationId,
    summary,
    body: shape.PhoneBody,
    invalidTexts: phone,
    refusals: { forbidden, invalid },
    operation: 'channel.dropAdmin',
    input: (channelId, body) => ({ channelId, person: String(body.phone), what }),
    ...done,
  });

export const channelAdminRoutes: readonly Route[] = [
  route({
    on: ['POST /newsletter/admin/invite'],
    operationId: 'inviteChannelAdmin',
    ...common,
    summary: 'Invite a person to become an admin of a channel. The invitation is sent as a message',
    body: shape.PhoneBody,
    answer: shape.DoneAnswer,
    invalidTexts: { ...noChannel, ...phone },
    refusals: { ...channelRefusals, forbidden, invalid, conflict, limited: {} },
    async run({ gateway, id, body }) {
      const channel = namedChannel(body);
      if (!channel.ok) return channel;
      return mapResult(await gateway.inviteChannelAdmin(id, channel.value, String(body.phone), body), done.shown);
    },
  }),
  channelRow({
    on: 'POST /newsletter/admin/accept',
    operationId: 'acceptChannelAdmin',
    summary: 'Accept an invitation to be an admin of a channel',
    body: shape.ChannelBody,
    refusals: {
      notFound: { example: 'the account is not invited to be an admin of this channel' },
      conflict: { example: 'the invitation has run out' },
    },
    operation: 'channel.acceptAdmin',
    input: (channelId) => ({ channelId }),
    ...done,
  }),
  dropRow('POST /newsletter/admin/remove', 'removeChannelAdmin', 'Take the right of an admin from somebody', 'right'),
  dropRow('POST /newsletter/admin/revoke', 'revokeChannelAdmin', 'Take an invitation to be an admin back', 'invitation'),
  channelRow({
    on: 'POST /newsletter/owner/transfer',
    operationId: 'transferChannel',
    summary: 'Make an admin the owner of a channel. The account stays an admin, unless it quits',
    body: shape.TransferBody,
    invalidTexts: phone,
    refusals: { forbidden, invalid, conflict: { example: 'only an admin of the channel can become its owner' } },
    operation: 'channel.transfer',
    input: (channelId, { phone: person, quitAdmin: quit = false }) => ({ channelId, person: String(person), quit }),
    ...done,
  }),
];
