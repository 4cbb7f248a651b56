/** Channels in the JSON of the platform. Numbers and times are strings. Times are in Unix seconds, except `update_time`, which is in microseconds. */
import { type Digits, SandboxError } from '../interface.ts';
import { unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { previewOf } from '../media.ts';
import { type Channel, type ChannelText, followerOf } from './channels.ts';

/** Makes the view of a text. `update_time` is in microseconds, as on the platform. */
const textShape = ({ id, text, at }: ChannelText) => ({ id, text, update_time: String(at * 1000) });

/** Makes the picture fields of a channel. Without a picture the full picture is null, and the preview has an empty path. */
const pictureShape = ({ picture }: Channel, type: 'IMAGE' | 'PREVIEW') => {
  if (type === 'IMAGE') return picture ? { id: picture.id, type, direct_path: picture.path } : null;
  return { id: picture?.id ?? '0', type, direct_path: picture ? previewOf(picture.path) : '' };
};

/** The parts of the metadata that can change, by name. Notifications contain the changed parts. */
export const changeable = {
  name: (channel: Channel) => textShape(channel.name),
  description: (channel: Channel) => textShape(channel.description),
  picture: (channel: Channel) => pictureShape(channel, 'IMAGE'),
  preview: (channel: Channel) => pictureShape(channel, 'PREVIEW'),
  settings: (channel: Channel) => ({ reaction_codes: { value: channel.reactions } }),
  verification: (channel: Channel) => (channel.verified ? 'VERIFIED' : 'UNVERIFIED'),
  handle: (channel: Channel) => channel.handle,
} as const;

export type Changeable = keyof typeof changeable;

export const partsOf = (channel: Channel, names: readonly Changeable[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, changeable[name](channel)]));

const setting = (type: string, muted: boolean) => ({ type, value: muted ? 'ON' : 'OFF' });

/** Returns the role and the settings of a follower; null for a person who does not follow the channel. */
export const viewerShape = (channel: Channel, number: Digits) => {
  const follower = followerOf(channel, number);
  if (!follower) return null;
  const settings = [setting('MUTE_FOLLOWER_ACTIVITY', follower.followersMuted), setting('MUTE_ADMIN_ACTIVITY', follower.muted)];
  return { role: follower.role, settings };
};

/** The optional parts that a query asks for. */
export interface Wanted {
  readonly fullImage?: boolean;
  readonly creationTime?: boolean;
  readonly followers?: boolean;
}

export const threadShape = (channel: Channel, { fullImage = true, creationTime = true, followers = true }: Wanted = {}) => ({
  ...(creationTime ? { creation_time: unixSeconds(channel.createdAt) } : {}),
  ...partsOf(channel, ['name', 'description', 'handle', 'preview', 'settings', 'verification']),
  invite: channel.invite,
  ...(fullImage ? partsOf(channel, ['picture']) : {}),
  ...(followers ? { subscribers_count: String(channel.followers.length) } : {}),
});

export const stateShape = ({ jid, state }: Channel) => ({ id: jid, state: { type: state } });

/** Returns the whole channel as a person sees it. */
export const channelShape = (channel: Channel, viewer: Digits, wanted: Wanted = {}) => ({
  ...stateShape(channel),
  thread_metadata: threadShape(channel, wanted),
  viewer_metadata: viewerShape(channel, viewer),
});

/** Returns a channel for a list of the directory. */
export const listedShape = (channel: Channel) => {
  const { settings: _settings, preview, ...thread } = threadShape(channel, { fullImage: false }) as Record<string, unknown>;
  return { id: channel.jid, thread_metadata: { ...thread, picture: preview } };
};

// Terms of channels: before the first action with channels, the app asks the account to accept a notice.

/** The notices by the kind of the action. The account must accept at least one of them before its first action of this kind. */
const notices = { create: ['20601217', '20601218'], follow: ['20601216'], admin: ['20610101', '20601218'] } as const;

/** The stage of an accepted notice. */
const accepted = '5';

export function requireNotice(person: Person, of: keyof typeof notices): void {
  if (!notices[of].some((id) => person.notices?.includes(id))) throw new SandboxError(403, 'terms not accepted');
}

export function acceptNotice({ people }: Pick<Parts, 'people'>, person: Person, id: string, stage: string): void {
  const known = Object.values(notices).some((ids) => (ids as readonly string[]).includes(id));
  if (!known || stage !== accepted) throw new SandboxError(400, 'bad-request');
  person.notices = [...new Set([...(person.notices ?? []), id])];
  people.save(person);
}
