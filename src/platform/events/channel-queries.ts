/** The platform's queries about channels, and the parsing of their JSON answers. */
import type { WASocket } from '@whiskeysockets/baileys';
import { type ChannelPatch, type ChannelPicture, type ChannelRole, channelRoles, type ChannelText } from '#actors/model.ts';
import { personServer } from '../wire/jid.ts';
import { askMex, type Json, objectOf } from '../wire/outcomes.ts';

// The queries about channels with their ids and the root field of their answers, as the web client sends them. Source: vinikjkkj/wa-spec, packages/mex (ids and
// captured answers, August 2026). The library's own ids are older, and some of its methods throw after a success.

export const queries = {
  create: { id: '25149874324715067', root: 'xwa2_newsletter_create' },
  update: { id: '24250201037901610', root: 'xwa2_newsletter_update' },
  metadata: { id: '27456920720571478', root: 'xwa2_newsletter' },
  subscribed: { id: '25399611239711790', root: 'xwa2_newsletter_subscribed' },
  join: { id: '24404358912487870', root: 'xwa2_newsletter_join_v2' },
  leave: { id: '9767147403369991', root: 'xwa2_newsletter_leave_v2' },
  setting: { id: '31938993655691868', root: 'xwa2_newsletter_update_user_setting' },
  remove: { id: '30062808666639665', root: 'xwa2_newsletter_delete_v2' },
  owner: { id: '9546742745432473', root: 'xwa2_newsletter_change_owner' },
  demote: { id: '9880997548630971', root: 'xwa2_newsletter_admin_demote' },
  invite: { id: '9387141988078609', root: 'xwa2_newsletter_admin_invite_create' },
  accept: { id: '9580828702035549', root: 'xwa2_newsletter_admin_invite_accept' },
  revoke: { id: '9656078347839416', root: 'xwa2_newsletter_admin_invite_revoke' },
  directory: { id: '26125047313831973', root: 'xwa2_newsletters_directory_list' },
  search: { id: '26301059626252132', root: 'xwa2_newsletters_directory_search' },
} as const;

export type QueryName = keyof typeof queries;

/** Sends a query. Rejects with the library's error if the platform refuses. */
export const ask = (sock: Pick<WASocket, 'query' | 'generateMessageTag'>, name: QueryName, variables: Json): Promise<unknown> =>
  askMex(sock, queries[name], variables);

/** The kinds of keys that name a channel. `metadataOf` converts these values to the capitals that the platform expects. */
const keys = { id: 'jid', invite: 'invite' } as const;

/** Returns the variables of the query for one channel with all its metadata. The answer has the account's real role, whatever `view_role` is. */
export const metadataOf = (by: 'id' | 'invite', key: string): Json => ({
  input: { key, type: keys[by].toUpperCase(), view_role: 'SUBSCRIBER' },
  fetch_viewer_metadata: true,
  fetch_full_image: true,
  fetch_creation_time: true,
  fetch_pinned_messages: false,
  fetch_status_metadata: false,
  fetch_wamo_sub: false,
});

/** Ids of terms that the apps accept before the account's first action of a kind. Sources: the web client and tulir/whatsmeow. */
const notices = { create: '20601217', follow: '20601216', admin: '20610101' } as const;

/** The ids of the terms that each connection has accepted, by socket. */
const accepted = new WeakMap<object, Set<string>>();

/** Accepts the terms once for each connection. A refusal is ignored, because a platform that refuses does not know these terms. */
export const acceptTerms = async (sock: WASocket, of: keyof typeof notices): Promise<void> => {
  const id = notices[of];
  const done = accepted.get(sock) ?? new Set();
  if (done.has(id)) return;
  const notice = { tag: 'notice', attrs: { id, stage: '5' } };
  await sock
    .query({ tag: 'iq', attrs: { id: sock.generateMessageTag(), type: 'set', to: personServer, xmlns: 'tos' }, content: [notice] })
    .catch((error: unknown) => {
      if (!sock.ws.isOpen) throw error;
    });
  accepted.set(sock, done.add(id));
};

// The parsing of channels. In the platform's JSON, numbers are strings. Times are in Unix seconds, except the times of names and descriptions, which are in
// Unix microseconds.

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Converts a number, which may be a text. Returns null for other values. */
const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) ? count : null;
};

/** Converts a constant of the platform to lower case, as the gateway uses it. */
const wordOf = (value: unknown): string => textOf(value).toLowerCase();

const namedText = (value: unknown): ChannelText => {
  const { text, id, update_time: at } = objectOf(value);
  const micros = countOf(at);
  return { text: textOf(text), id: textOf(id), at: micros ? Math.floor(micros / 1000) : null };
};

/** Reads a picture. Returns null if it has no file. */
const pictureOf = (value: unknown): ChannelPicture | null => {
  const { id, direct_path: path } = objectOf(value);
  return textOf(path) === '' ? null : { id: textOf(id), path: textOf(path) };
};

/** Reads a role. Returns null for an unknown or a missing role. */
export const roleOf = (value: unknown): ChannelRole | null => channelRoles.find((role) => role === wordOf(value)) ?? null;

/** Returns true if a setting of the account mutes notices of new posts, and false if it unmutes them. Returns null for other settings. */
export const mutedBy = (setting: unknown): boolean | null => {
  const { type, value } = objectOf(setting);
  return type === 'MUTE_ADMIN_ACTIVITY' ? value === 'ON' : null;
};

/** Returns true if the channel is muted; null if the answer does not say. Older answers have the single field `mute` in place of settings. */
const mutedIn = ({ settings, mute }: Json): boolean | null => {
  const told = (Array.isArray(settings) ? settings : []).map(mutedBy).find((muted) => muted !== null);
  return told ?? (textOf(mute) === '' ? null : mute === 'ON');
};

type Facts = Omit<ChannelPatch, 'id'>;

/** Readers for the parts of the metadata. A part that is absent has not changed. */
const readers: Readonly<Record<string, (value: unknown) => Facts>> = {
  name: (value) => ({ name: namedText(value) }),
  description: (value) => ({ description: namedText(value) }),
  creation_time: (value) => ({ createdAt: (countOf(value) ?? 0) * 1000 || null }),
  invite: (value) => ({ invite: textOf(value) }),
  handle: (value) => ({ handle: textOf(value) || null }),
  subscribers_count: (value) => ({ subscribers: countOf(value) }),
  verification: (value) => ({ verification: wordOf(value) }),
  picture: (value) => ({ picture: pictureOf(value) }),
  preview: (value) => ({ preview: pictureOf(value) }),
  settings: (value) => {
    const { reaction_codes: codes } = objectOf(value);
    return codes === undefined ? {} : { reactions: wordOf(objectOf(codes)['value']) };
  },
};

const factsIn = (thread: Json): Facts =>
  Object.entries(thread).reduce<Facts>(
    (facts, [name, value]) => ({ ...facts, ...(Object.hasOwn(readers, name) ? readers[name]?.(value) : {}) }),
    {},
  );

/** Reads a channel from an answer or a notification. Returns null if there is no channel. */
export const channelIn = (value: unknown): ChannelPatch | null => {
  const { id, state, thread_metadata: thread, viewer_metadata: viewer } = objectOf(value);
  if (!textOf(id).endsWith('@newsletter')) return null;
  const type = wordOf(objectOf(state)['type']);
  const role = roleOf(objectOf(viewer)['role']);
  const muted = mutedIn(objectOf(viewer));
  return {
    id: textOf(id),
    ...(type === '' ? {} : { state: type }),
    ...factsIn(objectOf(thread)),
    ...(role === null ? {} : { role }),
    ...(muted === null ? {} : { muted }),
  };
};
