/** Shapes of posts of channels. */
import { Type } from 'typebox';
import { channelExample, channelFields } from './channel.ts';
import { Count, LooseText, optional, Text } from './common.ts';

/** The platform's largest number of a post, and how many posts it lists at once. */
const [highest, mostListed] = [2_147_483_647, 300];

const serverId = (description: string) => Count(1, highest, description);

export const postPage = { usual: 50, most: mostListed };
export const searchPage = { usual: 100, most: mostListed };
export const searchPages = { usual: 5, most: 100 };

const pageCount = (what: string) => optional(Count(1, mostListed, what));

export const ListPostsBody = Type.Object({
  ...channelFields,
  count: pageCount(`Posts, newest first, ${postPage.usual} when left out`),
  beforeid: optional(serverId('Only posts before the one with this number: the last of the page before')),
});

export const PostUpdatesBody = Type.Object({
  ...channelFields,
  count: pageCount(`Posts, ${postPage.usual} when left out`),
  afterid: optional(serverId('Only posts after the one with this number')),
  since: optional(Count(0, 4_102_444_800, 'Only what changed since then, in Unix seconds')),
});

const PostShape = Type.Object({
  serverid: Type.Integer({ description: 'Number of the post in its channel', examples: [12_345] }),
  messageid: Type.String({ description: "Id at the platform; '' where the platform does not say", examples: ['3EB0B4302B3A8A52F7A1'] }),
  type: Type.String({ description: '`text`, `media`, `poll`', examples: ['text'] }),
  timestamp: optional(Type.String({ format: 'date-time', examples: ['2026-02-02T17:46:57.000Z'] })),
  viewsCount: Type.Integer({ examples: [1200] }),
  reactionCounts: Type.Unsafe<Readonly<Record<string, number>>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Reactions by their emoji',
    examples: [{ '👍': 12 }],
  }),
  message: optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      description: 'The content; left out of posts that were taken back, and where the platform tells counts alone',
      examples: [{ conversation: 'News' }],
    }),
  ),
});

export const PostsAnswer = Type.Object({ response: Type.Array(PostShape) });

const named = {
  messageid: optional(LooseText(128, 'Id of the post at the platform', 1)),
  serverid: optional(serverId('Number of the post in its channel')),
  count: optional(Count(1, 1_000_000, `Posts of a page that is searched for \`messageid\`, ${searchPage.usual} when left out`)),
  maxpages: optional(Count(1, 1_000_000, `Pages that are searched, ${searchPages.usual} when left out, ${searchPages.most} at most`)),
};

export const DeletePostBody = Type.Object({ ...channelFields, ...named }, { examples: [{ jid: channelExample, serverid: 12_345 }] });

export const EditPostBody = Type.Object(
  {
    ...channelFields,
    ...named,
    text: optional(Text(65_536, 'The new text or caption')),
    caption: optional(Text(65_536, 'The same as `text`, where that is missing')),
    mediahandle: optional(Text(512, "The platform's name for another uploaded file")),
  },
  { examples: [{ jid: channelExample, serverid: 12_345, text: 'We open at ten' }] },
);

export const ChangedPostAnswer = Type.Object({
  response: Type.Object({
    jid: Type.String({ examples: [channelExample] }),
    targetmessageid: Type.String({ examples: ['3EB0B4302B3A8A52F7A1'] }),
    targetserverid: Type.Integer({ examples: [12_345] }),
    messageid: Type.String({ description: 'The same: the platform gives a change no id of its own', examples: ['3EB0B4302B3A8A52F7A1'] }),
    serverid: Type.Integer({ examples: [12_345] }),
  }),
});

export const ViewedBody = Type.Object({
  ...channelFields,
  serverids: Type.Array(serverId('Number of a post'), { minItems: 1, maxItems: mostListed, description: 'Numbers of the posts' }),
});

export const PostReactionBody = Type.Object({
  ...channelFields,
  serverid: serverId('Number of the post'),
  reaction: optional(Text(64, 'An emoji; an empty text, or none, takes the reaction back')),
  reactionmessageid: optional(
    Type.String({ maxLength: 128, pattern: '^[\\w.-]*$', description: 'Id for the reaction at the platform; a new one when left out' }),
  ),
});

export const FollowUpdatesBody = Type.Object(channelFields);

export const DurationAnswer = Type.Object({
  response: Type.String({ description: 'How long live updates come; ask again before it is over', examples: ['5m0s'] }),
});
