/** Shapes of channels. The published interface defines channels only as objects, so their fields are those of the platform. */
import { type TProperties, Type } from 'typebox';
import { changedPostFields, channelExample, channelFields, postFields } from '#src/contract/views.ts';
import { PictureSource } from './account.ts';
import { Count, Flag, LooseText, optional, ref, Text } from './common.ts';

export const Channel = Type.Object(channelFields, {
  $id: 'Channel',
  examples: [
    {
      id: channelExample,
      state: { type: 'active' },
      thread_metadata: {
        creation_time: '1770054417',
        invite: '0029VaAbCdEfGhIjKlMn',
        name: { text: 'Offers', id: '1770054417000000', update_time: '1770054417000000' },
        description: { text: 'Every day', id: '1770054417000001', update_time: '1770054417000000' },
        subscribers_count: '12',
        verification: 'unverified',
        settings: { reaction_codes: { value: 'all' } },
      },
      viewer_metadata: { role: 'owner', mute: 'off' },
    },
  ],
});

/** Makes the schema of an id, which must be a text. A JSON number would lose its last digits. */
const Id = (description: string) => Type.String({ maxLength: 128, description, examples: [channelExample] });

/** The fields that name a channel. */
export const channelNames = {
  jid: optional(Id('The channel: its whole id, or the digits of it')),
  id: optional(Type.String({ maxLength: 128, description: 'The older name of `jid`' })),
};

export const channelBody = <T extends TProperties>(fields: T) => Type.Object({ ...channelNames, ...fields });

export const ChannelBody = Type.Object(channelNames);

export const ChannelAnswer = Type.Object({ response: ref(Channel) });
export const ChannelsAnswer = Type.Object({ response: Type.Array(ref(Channel)) });
export const DoneAnswer = Type.Object({ response: Type.Boolean({ description: 'true: it is done' }) });

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: String.raw`\S`,
  description: 'The name that everybody sees',
  examples: ['Offers'],
});
const description = Type.String({ maxLength: 2048, description: 'Description of the channel' });
const picture = { ...PictureSource, description: 'Address, data URL or base64 of a picture' };

export const CreateChannelBody = Type.Object({
  name,
  description: optional(description),
  picture: optional(Type.String(picture)),
});

export const LinkBody = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'The link of a channel, or the code at its end',
    examples: ['https://whatsapp.com/channel/0029VaAbCdEfGhIjKlMn'],
  }),
});

export const NameBody = channelBody({ name });
export const DescriptionBody = channelBody({
  description: Type.String({
    maxLength: 2048,
    description: 'Description of the channel; an empty text deletes it',
    examples: ['Offers of every week'],
  }),
});
export const PictureBody = channelBody({ picture: PictureSource });
export const ReactionsBody = channelBody({
  reactionCodes: Type.String({
    maxLength: 16,
    description: 'Emojis that followers may use for reactions: all, basic or none',
    examples: ['basic'],
  }),
});

const phone = {
  phone: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    minLength: 1,
    maxLength: 128,
    description: 'The person: digits with the country code, or an id',
    examples: ['5511999999999'],
  }),
};
export const PhoneBody = channelBody(phone);
export const TransferBody = channelBody({ ...phone, quitAdmin: optional(Flag('The account is no admin afterwards, only a follower')) });

/** Largest number of channels on one page of a search. The platform returns no more. */
export const mostFound = 100;

const Cursor = (description: string) => Type.String({ maxLength: 512, description });

export const SearchBody = Type.Object({
  searchText: optional(
    Type.String({ maxLength: 256, description: 'Words to look for; without any the directory is listed', examples: ['promo'] }),
  ),
  view: optional(
    Type.String({
      maxLength: 32,
      description: 'List of the directory: RECOMMENDED, TRENDING, POPULAR, NEW or FEATURED',
      examples: ['RECOMMENDED'],
    }),
  ),
  countryCodes: optional(
    Type.Array(Type.String({ maxLength: 8 }), {
      maxItems: 50,
      description: 'Countries of the directory, two letters each; all when left out',
    }),
  ),
  limit: optional(Count(1, mostFound, 'Channels in the answer; 20 when left out')),
  after: optional(Cursor('The cursor `after` of the page before')),
  cursor: optional(Cursor('Another name of `after`')),
  startCursor: optional(Cursor('Another name of `after`')),
  start_cursor: optional(Cursor('Another name of `after`')),
});

export const SearchAnswer = Type.Object({
  response: Type.Object({
    after: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The cursor of the next page; null on the last one' }),
    data: Type.Array(ref(Channel)),
  }),
});

// Shapes of posts of channels.

/** The highest number that a post may have, and the largest number of posts in one list of the platform. */
const [highest, mostListed] = [2_147_483_647, 300];

const serverId = (description: string) => Count(1, highest, description);

export const postPage = { usual: 50, most: mostListed };
export const searchPage = { usual: 100, most: mostListed };
export const searchPages = { usual: 5, most: 100 };

const pageCount = (what: string) => optional(Count(1, mostListed, what));

export const ListPostsBody = channelBody({
  count: pageCount(`Posts, newest first, ${postPage.usual} when left out`),
  beforeid: optional(serverId('Only posts before the one with this number: the last of the page before')),
});

export const PostUpdatesBody = channelBody({
  count: pageCount(`Posts, ${postPage.usual} when left out`),
  afterid: optional(serverId('Only posts after the one with this number')),
  since: optional(Count(0, 4_102_444_800, 'Only what changed since then, in Unix seconds')),
});

export const PostsAnswer = Type.Object({ response: Type.Array(Type.Object(postFields)) });

const named = {
  messageid: optional(LooseText(128, 'Id of the post at the platform', 1)),
  serverid: optional(serverId('Number of the post in its channel')),
  count: optional(Count(1, 1_000_000, `Posts of a page that is searched for \`messageid\`, ${searchPage.usual} when left out`)),
  maxpages: optional(Count(1, 1_000_000, `Pages that are searched, ${searchPages.usual} when left out, ${searchPages.most} at most`)),
};

export const DeletePostBody = Type.Object({ ...channelNames, ...named }, { examples: [{ jid: channelExample, serverid: 12_345 }] });

export const EditPostBody = Type.Object(
  {
    ...channelNames,
    ...named,
    text: optional(Text(65_536, 'The new text or caption')),
    caption: optional(Text(65_536, 'The same as `text`, where that is missing')),
    mediahandle: optional(Text(512, "The platform's name for another uploaded file")),
  },
  { examples: [{ jid: channelExample, serverid: 12_345, text: 'We open at ten' }] },
);

export const ChangedPostAnswer = Type.Object({ response: Type.Object(changedPostFields) });

export const ViewedBody = channelBody({
  serverids: Type.Array(serverId('Number of a post'), { minItems: 1, maxItems: mostListed, description: 'Numbers of the posts' }),
});

export const PostReactionBody = channelBody({
  serverid: serverId('Number of the post'),
  reaction: optional(Text(64, 'An emoji; an empty text, or none, takes the reaction back')),
  reactionmessageid: optional(
    Type.String({ maxLength: 128, pattern: '^[\\w.-]*$', description: 'Id for the reaction at the platform; a new one when left out' }),
  ),
});

export const DurationAnswer = Type.Object({
  response: Type.String({ description: 'Duration of live updates; repeat the request before its end', examples: ['5m0s'] }),
});
