/**
 * Requests of clients about channels, by the id of the query. The queries are those of the current web client and of older clients. Sources: vinikjkkj/wa-spec
 * packages/mex with its captured answers, oxidezap/whatsapp-rust, tulir/whatsmeow, WhiskeySockets/Baileys.
 */
import { keepPicture } from '../account.ts';
import { lidJid, pnJid } from '../address.ts';
import * as act from '../channels/actions.ts';
import { type Channel, inView, isAdmin, type Page, pageOf, searchChannels } from '../channels/channels.ts';
import { acceptNotice, channelShape, listedShape, requireNotice, stateShape, threadShape, type Wanted } from '../channels/shape.ts';
import { SandboxError, type ReactionCodes } from '../interface.ts';
import type { Person, Picture } from '../people.ts';
import type { DeviceQueries, DeviceQuery, MexQueries, Variables } from './query.ts';

const badRequest = (): SandboxError => new SandboxError(400, 'bad-request');

const objectIn = (value: unknown): Variables => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest();
  return value as Variables;
};

const textIn = (value: unknown): string => {
  if (typeof value !== 'string') throw badRequest();
  return value;
};

const listIn = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw badRequest();
  return value;
};

const me = ({ parts, device }: DeviceQuery): Person => parts.people.ensure(device.number);

const named = ({ parts }: DeviceQuery, value: unknown): Channel => {
  const jid = textIn(value);
  if (!jid.endsWith('@newsletter')) throw badRequest();
  return parts.channels.get(jid);
};

/** Returns the person whom a query names by a LID without a device. */
const userIn = ({ parts }: DeviceQuery, value: unknown): Person => {
  const address = textIn(value);
  if (!/^\d{5,20}@lid$/.test(address)) throw badRequest();
  const found = parts.people.resolve(address)?.person;
  if (!found) throw new SandboxError(404, 'item-not-found');
  return found;
};

/** Stores the picture of a query. Returns null for `''`, which removes the picture. */
const pictureIn = (query: DeviceQuery, value: unknown): Picture | null =>
  keepPicture(query.parts, Buffer.from(textIn(value), 'base64')) ?? null;

type OnChannel = (query: DeviceQuery, channel: Channel, variables: Variables) => unknown;

/** Makes the handler of a query whose variables name a channel. The answer is in the field `root`. */
const onChannel =
  (root: string, work: OnChannel) =>
  (query: DeviceQuery, variables: Variables): unknown => ({
    [root]: query.parts.db.atomically(() => work(query, named(query, variables['newsletter_id']), variables)),
  });

/** Makes the handler of a query that changes a person's role in a channel. The answer has the channel's id and the result of `work`. */
const onPerson = (root: string, work: (query: DeviceQuery, channel: Channel, who: Person) => object | void) =>
  onChannel(root, (query, channel, variables) => {
    const more = work(query, channel, userIn(query, variables['user_id']));
    return { id: channel.jid, ...(more ?? { __typename: 'XWA2Newsletter' }) };
  });

function create(query: DeviceQuery, { input }: Variables): unknown {
  const { name, description, picture } = objectIn(input);
  requireNotice(me(query), 'create');
  const file = picture === undefined || picture === null ? null : pictureIn(query, picture);
  const about = description === undefined || description === null ? '' : textIn(description);
  const channel = query.parts.db.atomically(() => act.createChannel(query.parts, me(query), textIn(name), about, file ?? undefined));
  return { xwa2_newsletter_create: channelShape(channel, query.device.number) };
}

const reactionsIn = (value: unknown): ReactionCodes => {
  const wanted = objectIn(objectIn(value)['reaction_codes'])['value'];
  if (wanted !== 'ALL' && wanted !== 'BASIC' && wanted !== 'NONE') throw badRequest();
  return wanted;
};

const given = (value: unknown): boolean => value !== undefined && value !== null;

const update: OnChannel = (query, channel, variables) => {
  const { name, description, picture, settings } = objectIn(variables['updates']);
  act.change(query.parts, channel, me(query), {
    ...(given(name) ? { name: textIn(name) } : {}),
    ...(given(description) ? { description: textIn(description) } : {}),
    ...(given(picture) ? { picture: pictureIn(query, picture) } : {}),
    ...(given(settings) ? { reactions: reactionsIn(settings) } : {}),
  });
  return { ...stateShape(channel), thread_metadata: threadShape(channel, { followers: false }) };
};

const viewRoles = ['GUEST', 'SUBSCRIBER', 'ADMIN', 'OWNER'];

/** Returns the metadata of a channel. For an unknown channel the state is `NON_EXISTING`. A deleted channel is refused with 405. */
function metadata(query: DeviceQuery, variables: Variables): unknown {
  const { key, type, view_role: role } = objectIn(variables['input']);
  if ((type !== 'JID' && type !== 'INVITE') || (role !== undefined && !viewRoles.includes(String(role)))) throw badRequest();
  query.parts.counters.channels.metadata += 1;
  const { channels } = query.parts;
  const channel = type === 'JID' ? channels.find(textIn(key)) : channels.byInvite(textIn(key));
  if (!channel) return { xwa2_newsletter: { id: null, state: { type: 'NON_EXISTING' }, thread_metadata: null, viewer_metadata: null } };
  if (channel.state === 'DELETED') throw new SandboxError(405, 'not-allowed');
  const wanted: Wanted = {
    fullImage: variables['fetch_full_image'] === true,
    creationTime: variables['fetch_creation_time'] !== false,
  };
  const { viewer_metadata: viewer, ...rest } = channelShape(channel, query.device.number, wanted);
  return { xwa2_newsletter: { ...rest, viewer_metadata: variables['fetch_viewer_metadata'] === true ? viewer : null } };
}

const subscribed = (query: DeviceQuery): unknown => {
  const { number } = query.device;
  query.parts.counters.channels.lists += 1;
  const all = query.parts.channels.followedBy(number);
  return { xwa2_newsletter_subscribed: all.map((channel) => channelShape(channel, number, { followers: false })) };
};

const followersOf = (query: DeviceQuery, { input }: Variables): unknown => {
  const { newsletter_id: id, count } = objectIn(input);
  const channel = named(query, id);
  act.asAdmin(channel, me(query));
  if (!Number.isInteger(count) || Number(count) < 1) throw badRequest();
  const edges = channel.followers.slice(0, Number(count)).map(({ number, role, since }) => {
    const person = query.parts.people.ensure(number);
    const node = { id: lidJid(person.lid), pn: pnJid(number), display_name: query.parts.people.pushName(person), username_info: null };
    return { follow_time: String(Math.floor(since / 1000)), role, node, admin_profile: null };
  });
  return { xwa2_newsletter_followers: { followers: { edges } } };
};

const state = (channel: Channel) => stateShape(channel);

const muted = (root: string, on: boolean) =>
  onChannel(root, (query, channel) => {
    act.mute(query.parts, channel, me(query), 'muted', on);
    return state(channel);
  });

const settingsOf: Readonly<Record<string, 'muted' | 'followersMuted'>> = {
  MUTE_ADMIN_ACTIVITY: 'muted',
  MUTE_FOLLOWER_ACTIVITY: 'followersMuted',
};

const userSetting = (query: DeviceQuery, { input }: Variables): unknown => {
  const { newsletter_id: id, type, value } = objectIn(input);
  const what = settingsOf[textIn(type)];
  if (!what || (value !== 'ON' && value !== 'OFF')) throw badRequest();
  const channel = named(query, id);
  query.parts.db.atomically(() => act.mute(query.parts, channel, me(query), what, value === 'ON'));
  return { xwa2_newsletter_update_user_setting: state(channel) };
};

const adminInfo = onChannel('xwa2_newsletter_admin', (query, channel) => {
  act.asAdmin(channel, me(query));
  return {
    id: channel.jid,
    admin_count: channel.followers.filter(({ number }) => isAdmin(channel, number)).length,
    admin_profile: null,
    pending_admin_invites: channel.invitations
      .map(({ number }) => query.parts.people.ensure(number))
      .map(({ lid, number }) => ({ user: { id: lidJid(lid), pn: pnJid(number) } })),
  };
});

const listOf = ({ channels, endCursor }: Page, cursor: unknown) => ({
  page_info: { endCursor, hasNextPage: endCursor !== null, hasPreviousPage: given(cursor) && cursor !== '', startCursor: null },
  result: channels.map(listedShape),
});

const directory = (query: DeviceQuery, { input }: Variables): unknown => {
  const { view, filters, limit, start_cursor: cursor } = objectIn(input);
  const { country_codes: countries, categories } = objectIn(filters);
  listIn(categories);
  const page = pageOf(inView(query.parts.channels.all(), view, listIn(countries)), limit, cursor);
  return { xwa2_newsletters_directory_list: listOf(page, cursor) };
};

const search = (query: DeviceQuery, { input }: Variables): unknown => {
  const { search_text: words, categories, limit, start_cursor: cursor } = objectIn(input);
  listIn(categories);
  const page = pageOf(searchChannels(query.parts.channels.all(), textIn(words)), limit, cursor);
  return { xwa2_newsletters_directory_search: listOf(page, cursor) };
};

const owner = onPerson('xwa2_newsletter_change_owner', (query, channel, who) => act.transfer(query.parts, channel, me(query), who));
const demote = onPerson('xwa2_newsletter_admin_demote', (query, channel, who) => act.removeAdmin(query.parts, channel, me(query), who));

const join = onChannel('xwa2_newsletter_join_v2', (query, channel) => {
  requireNotice(me(query), 'follow');
  act.follow(query.parts, channel, me(query));
  return state(channel);
});

export const channelMex: MexQueries = {
  '25149874324715067': create,
  '8823471724422422': create,
  '24250201037901610': onChannel('xwa2_newsletter_update', update),
  '27456920720571478': metadata,
  '6563316087068696': metadata,
  '25399611239711790': subscribed,
  '6388546374527196': subscribed,
  '27472091235714801': followersOf,
  '24404358912487870': join,
  '9767147403369991': onChannel('xwa2_newsletter_leave_v2', (query, channel) => {
    act.unfollow(query.parts, channel, me(query));
    return state(channel);
  }),
  '31938993655691868': userSetting,
  '29766401636284406': muted('xwa2_newsletter_mute_v2', true),
  '9864994326891137': muted('xwa2_newsletter_unmute_v2', false),
  '26278439461859188': adminInfo,
  '7130823597031706': adminInfo,
  '9783111038412085': adminInfo,
  '9546742745432473': owner,
  '7341777602580933': owner,
  '9880997548630971': demote,
  '6551828931592903': demote,
  '9387141988078609': onPerson('xwa2_newsletter_admin_invite_create', (query, channel, who) => {
    requireNotice(me(query), 'admin');
    return { invite_expiration_time: String(Math.floor(act.inviteAdmin(query.parts, channel, me(query), who) / 1000)) };
  }),
  '9656078347839416': onPerson('xwa2_newsletter_admin_invite_revoke', (query, channel, who) =>
    act.revokeAdmin(query.parts, channel, me(query), who),
  ),
  '9580828702035549': onChannel('xwa2_newsletter_admin_invite_accept', (query, channel) => {
    requireNotice(me(query), 'admin');
    act.acceptAdmin(query.parts, channel, me(query));
    return { id: channel.jid, __typename: 'XWA2Newsletter' };
  }),
  '30062808666639665': onChannel('xwa2_newsletter_delete_v2', (query, channel) => {
    act.remove(query.parts, channel, me(query));
    return state(channel);
  }),
  '26125047313831973': directory,
  '26301059626252132': search,
};

export const channelQueries: DeviceQueries = {
  'tos/set/notice': (query) => {
    const { id = '', stage = '' } = query.request?.attrs ?? {};
    acceptNotice(query.parts, me(query), id, stage);
    return undefined;
  },
};
