/** Converts channels, changes of channels, and the platform's notifications about them into entries. */
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { type Channel, channelOf, type ChannelPatch, type ChannelPicture, type ChatPatch, type Entry } from '#actors/model.ts';
import type { DefinitionStore } from '#actors/ports.ts';
import { type Directory, isMe } from '../wire/jid.ts';
import { mexNews, objectOf } from '../wire/outcomes.ts';
import { ask, channelIn, mutedBy, roleOf } from './channel-queries.ts';

/** Pictures of channels are public files of this host. */
const pictureHost = 'https://pps.whatsapp.net';

const urlOf = (picture: ChannelPicture | null): string => (picture === null ? '' : pictureHost + picture.path);

/** The mute time of a chat that is muted without an end. */
const forever = -1;

/** Returns those fields of a channel that are stored with its chat. */
const chatPatch = ({ id, name, picture, preview, muted }: ChannelPatch): ChatPatch => ({
  chatId: id,
  ...(name ? { name: name.text } : {}),
  ...(picture === undefined ? {} : { image: urlOf(picture) }),
  ...(preview === undefined ? {} : { imagePreview: urlOf(preview) }),
  ...(muted === undefined || muted === null ? {} : { muteEndTime: muted ? forever : 0 }),
});

/** Converts a followed channel. `tell`: true for a new channel, so that receivers get an event about its chat. */
export const followedEntries = (channel: ChannelPatch, tell: boolean): readonly Entry[] => [
  { kind: 'channel', channel, create: true },
  { kind: 'chat', chat: chatPatch(channel), create: true, ...(tell ? { tell: 'chats' } : {}) },
];

/** Returns the entries for a channel that was deleted, or that the account no longer follows. Its posts stay. */
export const goneChannelEntries = (channelId: string): readonly Entry[] => [
  { kind: 'definitionGone', definition: { of: 'channel', value: channelOf({ id: channelId }) } },
  { kind: 'chatRemoved', chatId: channelId },
];

/** Returns the entries for a changed channel. If fields of its chat change, receivers get an event about the chat. */
export const changedEntries = (channel: ChannelPatch): readonly Entry[] => {
  const chat = chatPatch(channel);
  const changed: Entry = { kind: 'channel', channel, create: false };
  return Object.keys(chat).length > 1 ? [changed, { kind: 'chat', chat, create: false, tell: 'chats' }] : [changed];
};

const ended = new Set(['deleted', 'non_existing']);

type Reader = (news: ReturnType<typeof objectOf>, channel: ChannelPatch, directory: Directory) => readonly Entry[];

/** Reads a change of a role. The roles of other people are not stored. */
const ranked: Reader = (news, { id }, directory) => {
  const role = roleOf(news['user_new_role']);
  return role !== null && isMe(directory, String(objectOf(news['user'])['id'] ?? ''))
    ? [{ kind: 'channel', channel: { id, role }, create: false }]
    : [];
};

const changed: Reader = (_news, channel) => changedEntries(channel);

/** Readers by the field of the notification. Other fields do not change stored data. */
const readers: Readonly<Record<string, Reader>> = {
  xwa2_notify_newsletter_on_join: (_news, channel) => followedEntries({ role: 'subscriber', muted: false, ...channel }, true),
  xwa2_notify_newsletter_on_leave: (_news, { id }) => goneChannelEntries(id),
  xwa2_notify_newsletter_on_state_change: (_news, channel) =>
    ended.has(channel.state ?? '') ? goneChannelEntries(channel.id) : changedEntries(channel),
  xwa2_notify_newsletter_on_mute_change: ({ mute }, { id }) => changedEntries({ id, muted: mute === 'ON' }),
  xwa2_notify_newsletter_on_user_setting_change: ({ setting }, { id }) => {
    const muted = mutedBy(setting);
    return muted === null ? [] : changedEntries({ id, muted });
  },
  xwa2_notify_newsletter_on_metadata_update: changed,
  xwa2_notify_newsletter_owner_on_metadata_update: changed,
  xwa2_notify_newsletter_admin_metadata_update: changed,
  xwa2_notify_newsletter_on_admin_metadata_update: changed,
  xwa2_notify_newsletter_admin_promote: ranked,
  xwa2_notify_newsletter_admin_demote: ranked,
};

/** Converts a notification of type `mex` about a channel. */
export const fromChannelNotification = (node: BinaryNode, directory: Directory): Entry[] =>
  Object.entries(mexNews(node)).flatMap(([field, value]) => {
    const reader = Object.hasOwn(readers, field) ? readers[field] : undefined;
    const channel = channelIn(value);
    return reader && channel ? reader(objectOf(value), channel, directory) : [];
  });

// The list of channels that the account follows. The list is queried at the first login, at a later login if the list is too old, and when a client
// asks for channels before the first list.

/** The stored channels of the account. */
export interface StoredChannels {
  /** The age of the list from which a login queries it again. In milliseconds. */
  readonly maxAgeMs: number;
  /** Returns the time of the last list, in Unix milliseconds; null if there was none. */
  listedAt(): Promise<number | null>;
  /** Returns the ids of the stored channels. */
  known(): Promise<readonly string[]>;
}

/** The store of channels of all instances. */
export type ChannelStore = Pick<DefinitionStore, 'all'> & Pick<StoredChannels, 'maxAgeMs'>;

export const storedChannels = ({ all, maxAgeMs }: ChannelStore, instance: string): StoredChannels => ({
  maxAgeMs,
  listedAt: async () => (await all(instance, 'channelListing'))[0]?.at ?? null,
  known: async () => (await all(instance, 'channel')).map(({ id }) => id),
});

interface ChannelListParts extends StoredChannels {
  sock(): Pick<WASocket, 'query' | 'generateMessageTag'>;
  directory(): Pick<Directory, 'now'>;
  record(entries: readonly Entry[]): void;
  stumbled(where: string, error: unknown): void;
}

interface Listed {
  readonly channels: readonly Channel[];
  /** The entries that the caller must record. */
  readonly entries: readonly Entry[];
}

/** The entry that deletes the time of the list, so that the next login queries the list. That login may be of another account. */
export const unlisted: Entry = { kind: 'definitionGone', definition: { of: 'channelListing', value: { id: 'all', at: 0 } } };

export class ChannelList {
  readonly #parts: ChannelListParts;

  constructor(parts: ChannelListParts) {
    this.#parts = parts;
  }

  /** Queries the list in the background if there is none, or if it is too old. Call this after the login. */
  opened(): void {
    this.#refreshOld().catch((error: unknown) => this.#parts.stumbled('channels', error));
  }

  /** Queries all channels in one request. Channels in `known` that the answer lacks are removed. Returns null if the answer has no list. */
  async list(known: readonly string[]): Promise<Listed | null> {
    const answer = await ask(this.#parts.sock(), 'subscribed', { fetch_wamo_sub: false, fetch_status_metadata: false });
    if (!Array.isArray(answer)) return null;
    const told = answer.flatMap((one) => channelIn(one) ?? []).filter(({ state }) => state !== 'deleted');
    const followed = told.map((one) => ({ role: 'subscriber' as const, muted: false, ...one }));
    const listed = new Set(followed.map(({ id }) => id));
    const listing = { id: 'all', at: this.#parts.directory().now() } as const;
    return {
      channels: followed.map(channelOf),
      entries: [
        ...followed.flatMap((one) => followedEntries(one, false)),
        ...known.filter((id) => !listed.has(id)).flatMap(goneChannelEntries),
        { kind: 'definition', definition: { of: 'channelListing', value: listing } },
      ],
    };
  }

  async #refreshOld(): Promise<void> {
    const { maxAgeMs, listedAt, known, directory, record } = this.#parts;
    const at = await listedAt();
    if (at !== null && directory().now() - at <= maxAgeMs) return;
    const listed = await this.list(await known());
    if (listed !== null) record(listed.entries);
  }
}
