/** Channels in the JSON of the platform: numbers are texts, times Unix seconds, those of texts microseconds. */
import { channelRoles, type ChannelPatch, type ChannelPicture, type ChannelRole, type ChannelText } from '#actors/model.ts';
import { objectOf, type Json } from '../wire/mex.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Null for what is no number. */
const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) ? count : null;
};

/** Words of the platform as the gateway has them. */
const wordOf = (value: unknown): string => textOf(value).toLowerCase();

const namedText = (value: unknown): ChannelText => {
  const { text, id, update_time: at } = objectOf(value);
  const micros = countOf(at);
  return { text: textOf(text), id: textOf(id), at: micros ? Math.floor(micros / 1000) : null };
};

/** A picture without a file is none. */
const pictureOf = (value: unknown): ChannelPicture | null => {
  const { id, direct_path: path } = objectOf(value);
  return textOf(path) === '' ? null : { id: textOf(id), path: textOf(path) };
};

/** Null for a role that is new, or that the platform does not say. */
export const roleOf = (value: unknown): ChannelRole | null => channelRoles.find((role) => role === wordOf(value)) ?? null;

/** Returns whether a setting of the account mutes notices of new posts; null for other settings. */
export const mutedBy = (setting: unknown): boolean | null => {
  const { type, value } = objectOf(setting);
  return type === 'MUTE_ADMIN_ACTIVITY' ? value === 'ON' : null;
};

/** Older answers say it in one word. */
const mutedIn = ({ settings, mute }: Json): boolean | null => {
  const told = (Array.isArray(settings) ? settings : []).map(mutedBy).find((muted) => muted !== null);
  return told ?? (textOf(mute) === '' ? null : mute === 'ON');
};

type Facts = Omit<ChannelPatch, 'id'>;

/** One line for each part of the metadata; what is not there did not change. */
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

/** Reads a channel from an answer or a notification. Returns null if none is named. */
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
