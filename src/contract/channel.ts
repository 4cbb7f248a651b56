/** Channels as the interface spells them: the platform's own names, words in lower case, numbers and times as texts. */
import type { Channel, ChannelPicture, ChannelText } from '#actors/model.ts';

/** The id of a channel out of the whole id or its digits; '' for what is none. */
export const channelIdOf = (written: string): string => {
  const digits = /^(\d{5,25})(?:@newsletter)?$/.exec(written.trim())?.[1];
  return digits === undefined ? '' : `${digits}@newsletter`;
};

/** The code of a link, out of the link or by itself; '' when it is none. */
export const channelCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?(?:www\.)?whatsapp\.com\/channel\/)?([\w-]{8,64})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';

const textView = ({ text, id, at }: ChannelText) => ({ text, id, update_time: at === null ? '' : String(at * 1000) });

const pictureView = (picture: ChannelPicture, type: 'image' | 'preview') => ({
  url: `https://pps.whatsapp.net${picture.path}`,
  id: picture.id,
  type,
  direct_path: picture.path,
});

/** A channel as an answer shows it; what the platform did not tell is left out. */
export const channelView = (channel: Channel) => ({
  id: channel.id,
  state: { type: channel.state },
  thread_metadata: {
    ...(channel.createdAt === null ? {} : { creation_time: String(Math.floor(channel.createdAt / 1000)) }),
    invite: channel.invite,
    name: textView(channel.name),
    description: textView(channel.description),
    ...(channel.handle === null ? {} : { handle: channel.handle }),
    ...(channel.subscribers === null ? {} : { subscribers_count: String(channel.subscribers) }),
    verification: channel.verification,
    ...(channel.picture === null ? {} : { picture: pictureView(channel.picture, 'image') }),
    ...(channel.preview === null ? {} : { preview: pictureView(channel.preview, 'preview') }),
    ...(channel.reactions === '' ? {} : { settings: { reaction_codes: { value: channel.reactions } } }),
  },
  ...(channel.role === null
    ? {}
    : {
        viewer_metadata: {
          role: channel.role,
          ...(channel.muted === null ? {} : { mute: channel.muted ? ('on' as const) : ('off' as const) }),
        },
      }),
});
