/** The API representation of channels and of their posts: the platform's own field names, words in lower case, numbers and times as texts. */
import { Type } from 'typebox';
import { type ChangedPost, type Channel, type ChannelPicture, channelRoles, type ChannelText, type ListedPost } from '#actors/model.ts';
import { fieldsOf } from './fields.ts';
import { isoTime } from './formats.ts';
import { contentView } from './message.ts';
import { FreeObject, OneOf, optional } from './shapes.ts';

export const channelExample = '120363123456789012@newsletter';

/** Returns the id of a channel from a whole id or its digits; '' for other texts. */
export const channelIdOf = (written: string): string => {
  const digits = /^(\d{5,25})(?:@newsletter)?$/.exec(written.trim())?.[1];
  return digits === undefined ? '' : `${digits}@newsletter`;
};

/** Returns the code of a channel from its link or from the code itself; '' for other texts. */
export const channelCodeOf = (written: string): string =>
  /^(?:(?:https?:\/\/)?(?:www\.)?whatsapp\.com\/channel\/)?([\w-]{8,64})\/?(?:[?#].*)?$/.exec(written.trim())?.[1] ?? '';

const text = Type.String();

const channelText = fieldsOf<ChannelText>()({
  text: [text, (one) => one.text],
  id: [text, ({ id }) => id],
  update_time: [
    Type.String({ description: 'Unix time in microseconds; empty when it is unknown' }),
    ({ at }) => (at === null ? '' : String(at * 1000)),
  ],
});

interface ShownPicture extends ChannelPicture {
  readonly type: 'image' | 'preview';
}

const picture = fieldsOf<ShownPicture>()({
  url: [text, ({ path }) => `https://pps.whatsapp.net${path}`],
  id: [text, ({ id }) => id],
  type: [text, ({ type }) => type],
  direct_path: [text, ({ path }) => path],
});

const ChannelTextShape = Type.Object(channelText.schemas);
const PictureShape = Type.Object(picture.schemas);

/** The facts of a channel. An optional fact is absent if the platform did not send it. */
const facts = fieldsOf<Channel>()({
  creation_time: [
    optional(Type.String({ description: 'Unix time in seconds' })),
    ({ createdAt }) => (createdAt === null ? undefined : String(Math.floor(createdAt / 1000))),
  ],
  invite: [Type.String({ description: 'The code of the link' }), ({ invite }) => invite],
  name: [ChannelTextShape, ({ name }) => channelText.view(name)],
  description: [ChannelTextShape, ({ description }) => channelText.view(description)],
  handle: [optional(Type.String({ description: 'The public name' })), ({ handle }) => handle ?? undefined],
  subscribers_count: [optional(text), ({ subscribers }) => (subscribers === null ? undefined : String(subscribers))],
  verification: [Type.String({ description: 'verified or unverified' }), ({ verification }) => verification],
  picture: [optional(PictureShape), (one) => (one.picture === null ? undefined : picture.view({ ...one.picture, type: 'image' }))],
  preview: [optional(PictureShape), ({ preview }) => (preview === null ? undefined : picture.view({ ...preview, type: 'preview' }))],
  settings: [
    optional(Type.Object({ reaction_codes: Type.Object({ value: text }) })),
    ({ reactions }) => (reactions === '' ? undefined : { reaction_codes: { value: reactions } }),
  ],
});

const viewer = fieldsOf<{ readonly role: NonNullable<Channel['role']>; readonly muted: Channel['muted'] }>()({
  role: [OneOf(channelRoles, { description: 'Role of the account in the channel' }), ({ role }) => role],
  mute: [
    optional(OneOf(['on', 'off'], { description: 'Notices of new posts are off (`on`), or come (`off`)' })),
    ({ muted }) => (muted === null ? undefined : muted ? 'on' : 'off'),
  ],
});

const channel = fieldsOf<Channel>()({
  id: [text, ({ id }) => id],
  state: [Type.Object({ type: Type.String({ description: 'active, suspended or geosuspended' }) }), ({ state }) => ({ type: state })],
  thread_metadata: [Type.Object(facts.schemas), facts.view],
  viewer_metadata: [optional(Type.Object(viewer.schemas)), ({ role, muted }) => (role === null ? undefined : viewer.view({ role, muted }))],
});

export const channelFields = channel.schemas;
export const channelView = channel.view;

// Posts.

const messageId = '3EB0B4302B3A8A52F7A1';

/** The fields of a post. Counts that the platform did not send are 0 or `{}`. */
const post = fieldsOf<ListedPost>()({
  serverid: [Type.Integer({ description: 'Number of the post in its channel', examples: [12_345] }), ({ serverId }) => serverId],
  messageid: [
    Type.String({ description: "Id at the platform; '' where the platform does not say", examples: [messageId] }),
    (one) => one.messageId,
  ],
  type: [Type.String({ description: '`text`, `media`, `poll`', examples: ['text'] }), ({ type }) => type],
  timestamp: [
    optional(Type.String({ format: 'date-time', examples: ['2026-02-02T17:46:57.000Z'] })),
    ({ at }) => (at > 0 ? isoTime(at) : undefined),
  ],
  viewsCount: [Type.Integer({ examples: [1200] }), ({ views }) => views ?? 0],
  reactionCounts: [
    Type.Unsafe<Readonly<Record<string, number>>>({
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Reactions by their emoji',
      examples: [{ '👍': 12 }],
    }),
    ({ reactions }) => reactions ?? {},
  ],
  message: [
    optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        ...FreeObject('The content; left out of posts that were taken back, and where the platform tells counts alone'),
        examples: [{ conversation: 'News' }],
      }),
    ),
    ({ content }) => (content === null ? undefined : (contentView(content) as Readonly<Record<string, unknown>>)),
  ],
});

export const postFields = post.schemas;
export const postView = post.view;

const changedPost = fieldsOf<ChangedPost>()({
  jid: [Type.String({ examples: [channelExample] }), ({ target }) => target.channel],
  targetmessageid: [Type.String({ examples: [messageId] }), ({ target }) => target.messageId],
  targetserverid: [Type.Integer({ examples: [12_345] }), ({ target }) => target.serverId],
  messageid: [
    Type.String({ description: 'The same: the platform gives a change no id of its own', examples: [messageId] }),
    (one) => one.messageId,
  ],
  serverid: [Type.Integer({ examples: [12_345] }), ({ serverId }) => serverId],
});

export const changedPostFields = changedPost.schemas;
export const changedPostView = changedPost.view;

/** Returns a duration in the form that clients read: `5m0s`, `1h0m0s`, `45s`. */
export const durationText = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
};
