/** Channels on their way to the storage: whole ones, changes of them, and what the platform notifies the account of. */
import type { BinaryNode } from '@whiskeysockets/baileys';
import { channelOf, type ChannelPatch, type ChannelPicture, type ChatPatch, type Entry } from '#actors/model.ts';
import { mexNews, objectOf } from '../wire/mex.ts';
import { type Directory, isMe } from '../wire/directory.ts';
import { channelIn, mutedBy, roleOf } from './channel-json.ts';

/** Pictures of channels are public files of this host. */
const pictureHost = 'https://pps.whatsapp.net';

const urlOf = (picture: ChannelPicture | null): string => (picture === null ? '' : pictureHost + picture.path);

/** Muted without an end, as in other chats. */
const forever = -1;

/** The part of a channel that its chat keeps. */
const chatPatch = ({ id, name, picture, preview, muted }: ChannelPatch): ChatPatch => ({
  chatId: id,
  ...(name ? { name: name.text } : {}),
  ...(picture === undefined ? {} : { image: urlOf(picture) }),
  ...(preview === undefined ? {} : { imagePreview: urlOf(preview) }),
  ...(muted === undefined || muted === null ? {} : { muteEndTime: muted ? forever : 0 }),
});

/** A channel that the account follows, as an answer of the platform has it. `tell`: it is new, and its chat has an event. */
export const followedEntries = (channel: ChannelPatch, tell: boolean): readonly Entry[] => [
  { kind: 'channel', channel, create: true },
  { kind: 'chat', chat: chatPatch(channel), create: true, ...(tell ? { tell: 'chats' } : {}) },
];

/** The account follows the channel no more, or it is no more. Its posts stay. */
export const goneChannelEntries = (channelId: string): readonly Entry[] => [
  { kind: 'definitionGone', definition: { of: 'channel', value: channelOf({ id: channelId }) } },
  { kind: 'chatRemoved', chatId: channelId },
];

/** Its chat has an event when it changed. */
export const changedEntries = (channel: ChannelPatch): readonly Entry[] => {
  const chat = chatPatch(channel);
  const changed: Entry = { kind: 'channel', channel, create: false };
  return Object.keys(chat).length > 1 ? [changed, { kind: 'chat', chat, create: false, tell: 'chats' }] : [changed];
};

const ended = new Set(['deleted', 'non_existing']);

type Reader = (news: ReturnType<typeof objectOf>, channel: ChannelPatch, directory: Directory) => readonly Entry[];

/** Reads a change of a role. Only a change of the account itself concerns its own list. */
const ranked: Reader = (news, { id }, directory) => {
  const role = roleOf(news['user_new_role']);
  return role !== null && isMe(directory, String(objectOf(news['user'])['id'] ?? ''))
    ? [{ kind: 'channel', channel: { id, role }, create: false }]
    : [];
};

const changed: Reader = (_news, channel) => changedEntries(channel);

/** Readers by the field of the notification. Other fields concern nothing that is stored. */
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

/** A notification of type `mex` about a channel. */
export const fromChannelNotification = (node: BinaryNode, directory: Directory): Entry[] =>
  Object.entries(mexNews(node)).flatMap(([field, value]) => {
    const reader = Object.hasOwn(readers, field) ? readers[field] : undefined;
    const channel = channelIn(value);
    return reader && channel ? reader(objectOf(value), channel, directory) : [];
  });
