/** Operations on channels. The queries are the gateway's own, because those of the library have old ids, lack fields, or throw after a success. */
import { channelOf, done, refuse, type Channel, type ChannelPatch, type Entry, type Result } from '#actors/model.ts';
import type { ChannelOperations, ChannelWish, Outcome } from '#actors/ports.ts';
import { acceptTerms, ask, channelIn, metadataOf, type QueryName } from '../events/channel-queries.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { answered, type Json, noAdmin, noChannel, objectOf, refused } from '../wire/outcomes.ts';
import { changedEntries, followedEntries, goneChannelEntries } from '../events/from-channels.ts';
import { isLid, isPerson, resolveTarget } from '../wire/jid.ts';
import { type Handlers, inKnownForms, lidOf } from './requests.ts';
import { type Meanings, meant, notAccepted } from './refusal-words.ts';

const noOwner = refuse('forbidden', 'the account is not the owner of this channel');

const ofChannel: Meanings = { 401: noAdmin, 403: noAdmin, 404: noChannel, 405: noChannel };
const ofOwner: Meanings = { 401: noOwner, 403: noOwner, 405: noChannel };
const ofReader: Meanings = { 401: noChannel, 404: noChannel, 405: noChannel };
const ofFollower: Meanings = {
  401: refuse('forbidden', 'the account does not follow this channel'),
  403: refuse('forbidden', 'the platform does not allow it: the owner cannot leave, and a suspended channel cannot be followed'),
  404: noChannel,
  405: noChannel,
};
const badCursor = refuse('invalid', 'after is not a cursor of this search');
const noInvitation = refuse('notFound', 'the account is not invited to be an admin of this channel');
const ofInvited: Meanings = { 401: noInvitation, 404: noInvitation, 410: refuse('conflict', 'the invitation has run out') };

type EntriesOf = (answer: unknown) => readonly Entry[];

/** Sends a query that changes a channel. The outcome has the entries of `entriesOf` and no value. */
const changing = async (
  connection: LiveConnection,
  name: QueryName,
  variables: Json,
  { meanings, entriesOf }: { readonly meanings: Meanings; readonly entriesOf: EntriesOf },
): Promise<Outcome<null>> => {
  const asked = await meant(connection, ask(connection.sock, name, variables), meanings);
  return asked.ok ? answered(null, entriesOf(asked.value)) : asked;
};

const look = async (connection: LiveConnection, by: 'id' | 'invite', key: string): Promise<Result<ChannelPatch>> => {
  const asked = await meant(connection, ask(connection.sock, 'metadata', metadataOf(by, key)), ofReader);
  if (!asked.ok) return asked;
  const found = channelIn(asked.value);
  // The answer has no role if the account does not follow the channel.
  return found === null ? noChannel : done({ role: 'guest', ...found });
};

const follows = ({ role }: ChannelPatch): boolean => role !== 'guest';

/** Returns the LID of a person, because the platform accepts no other form. Refuses an address that is not a person or has no account. */
const personIn = async (connection: LiveConnection, written: string): Promise<Result<string>> => {
  const target = resolveTarget(written);
  if (!target.ok || (!isPerson(target.jid) && !isLid(target.jid))) return refuse('invalid', 'phone is no valid number');
  const [jid = target.jid] = await inKnownForms(connection, [target.jid]);
  const lid = isLid(jid) ? jid : await lidOf(connection, jid);
  return lid === '' ? refuse('notFound', 'there is no account for this number') : done(lid);
};

const updates = (wish: ChannelWish): Json => {
  if (wish.of === 'reactions') return { settings: { reaction_codes: { value: wish.codes.toUpperCase() } } };
  return wish.of === 'picture' ? { picture: base64(wish.jpeg) } : { [wish.of]: wish.text };
};

/** Encodes a picture. Null becomes '', which removes the picture. */
const base64 = (jpeg: Uint8Array | null): string => (jpeg === null ? '' : Buffer.from(jpeg).toString('base64'));

/** Returns the patch of a channel from the answer to a change. The allowed reactions come from the request. */
const wished = (channelId: string, wish: ChannelWish, answer: unknown): ChannelPatch => {
  const told = { ...channelIn(answer), id: channelId };
  return wish.of === 'reactions' ? { ...told, reactions: wish.codes } : told;
};

const pageOf = (answer: unknown): { readonly channels: readonly Channel[]; readonly after: string | null } => {
  const { result, page_info: info } = objectOf(answer);
  const { endCursor, hasNextPage } = objectOf(info);
  const channels = (Array.isArray(result) ? result : []).flatMap((one) => channelIn(one) ?? []).map(channelOf);
  return { channels, after: hasNextPage === true && typeof endCursor === 'string' && endCursor !== '' ? endCursor : null };
};

export const channelHandlers: Handlers<ChannelOperations> = {
  'channel.create': async (connection, { name, description, jpeg }) => {
    await acceptTerms(connection.sock, 'create');
    const input = { name, description, picture: jpeg === null ? null : base64(jpeg) };
    const asked = await meant(connection, ask(connection.sock, 'create', { input }), notAccepted);
    if (!asked.ok) return asked;
    const made = channelIn(asked.value);
    if (made === null) return refused(null, 'the platform answered without the channel');
    const channel: ChannelPatch = { role: 'owner', muted: false, ...made };
    return answered(channelOf(channel), followedEntries(channel, true));
  },

  'channel.refresh': async ({ channels }, { known }) => {
    const listed = await channels.list(known);
    return listed === null
      ? refused(null, 'the platform answered without the list of channels')
      : answered(listed.channels, listed.entries);
  },

  'channel.look': async (connection, { by, key }) => {
    const found = await look(connection, by, key);
    if (!found.ok) return found;
    return answered(channelOf(found.value), follows(found.value) ? followedEntries(found.value, false) : []);
  },

  'channel.follow': async (connection, { channelId, follow }) => {
    const variables = { newsletter_id: channelId };
    if (!follow) return changing(connection, 'leave', variables, { meanings: ofFollower, entriesOf: () => goneChannelEntries(channelId) });
    await acceptTerms(connection.sock, 'follow');
    const joined = await changing(connection, 'join', variables, { meanings: ofFollower, entriesOf: () => [] });
    if (!joined.ok) return joined;
    // The answer has only the id. If the other fields cannot be read now, a notification of the platform contains them.
    const found = await look(connection, 'id', channelId);
    return answered(null, found.ok && follows(found.value) ? followedEntries(found.value, true) : []);
  },

  // `MUTE_ADMIN_ACTIVITY` belongs to the switch that the app shows to followers. Another setting, for the activity of followers, is only for admins.
  // Sources: the web client and oxidezap/whatsapp-rust.
  'channel.mute': (connection, { channelId, mute }) =>
    changing(
      connection,
      'setting',
      { input: { newsletter_id: channelId, type: 'MUTE_ADMIN_ACTIVITY', value: mute ? 'ON' : 'OFF' } },
      { meanings: ofFollower, entriesOf: () => changedEntries({ id: channelId, muted: mute }) },
    ),

  'channel.change': (connection, { channelId, wish }) =>
    changing(
      connection,
      'update',
      { newsletter_id: channelId, updates: updates(wish) },
      {
        meanings: 'text' in wish ? { ...ofChannel, ...notAccepted } : ofChannel,
        entriesOf: (answer) => changedEntries(wished(channelId, wish, answer)),
      },
    ),

  'channel.delete': (connection, { channelId }) =>
    changing(
      connection,
      'remove',
      { newsletter_id: channelId },
      { meanings: { ...ofOwner, 404: noChannel }, entriesOf: () => goneChannelEntries(channelId) },
    ),

  'channel.find': async (connection, { text, view, countries, limit, after }) => {
    const page = { limit, ...(after === '' ? {} : { start_cursor: after }) };
    const input =
      text === null
        ? { view, filters: { country_codes: countries, categories: [] }, ...page }
        : { search_text: text, categories: [], ...page };
    const work = ask(connection.sock, text === null ? 'directory' : 'search', { input, fetch_status_metadata: false });
    const asked = await meant(connection, work, after === '' ? {} : { 400: badCursor });
    return asked.ok ? answered(pageOf(asked.value)) : asked;
  },

  'channel.inviteAdmin': async (connection, { channelId, person }) => {
    const found = await personIn(connection, person);
    if (!found.ok) return found;
    await acceptTerms(connection.sock, 'admin');
    const variables = { newsletter_id: channelId, user_id: found.value };
    const meanings = { ...ofOwner, 404: noChannel, 409: refuse('conflict', 'this person is an admin already') };
    const invited = await meant(connection, ask(connection.sock, 'invite', variables), meanings);
    if (!invited.ok) return invited;
    const channel = await look(connection, 'id', channelId);
    const name = channel.ok ? (channel.value.name?.text ?? '') : '';
    return answered({ expiresAt: Number(objectOf(invited.value)['invite_expiration_time'] ?? 0) || 0, name });
  },

  'channel.acceptAdmin': async (connection, { channelId }) => {
    await acceptTerms(connection.sock, 'admin');
    const accepted = await changing(connection, 'accept', { newsletter_id: channelId }, { meanings: ofInvited, entriesOf: () => [] });
    if (!accepted.ok) return accepted;
    const found = await look(connection, 'id', channelId);
    return answered(null, found.ok && follows(found.value) ? followedEntries(found.value, true) : []);
  },

  'channel.dropAdmin': async (connection, { channelId, person, what }) => {
    const found = await personIn(connection, person);
    if (!found.ok) return found;
    const nobody = refuse('notFound', what === 'right' ? 'this person is no admin of the channel' : 'this person is not invited');
    const isMe = found.value === connection.directory.me.lid;
    return changing(
      connection,
      what === 'right' ? 'demote' : 'revoke',
      { newsletter_id: channelId, user_id: found.value },
      {
        meanings: { ...ofOwner, 404: nobody },
        entriesOf: () => (isMe && what === 'right' ? changedEntries({ id: channelId, role: 'subscriber' }) : []),
      },
    );
  },

  'channel.transfer': async (connection, { channelId, person, quit }) => {
    const found = await personIn(connection, person);
    if (!found.ok) return found;
    const meanings = { ...ofOwner, 400: refuse('conflict', 'only an admin of the channel can become its owner'), 404: noChannel };
    const handed = await changing(
      connection,
      'owner',
      { newsletter_id: channelId, user_id: found.value },
      { meanings, entriesOf: () => changedEntries({ id: channelId, role: 'admin' }) },
    );
    if (!handed.ok || !quit) return handed;
    // The result of the first step is recorded at once, because it stays true if the second step is refused.
    connection.record(changedEntries({ id: channelId, role: 'admin' }));
    return changing(
      connection,
      'demote',
      { newsletter_id: channelId, user_id: connection.directory.me.lid },
      { meanings: ofOwner, entriesOf: () => changedEntries({ id: channelId, role: 'subscriber' }) },
    );
  },
};
