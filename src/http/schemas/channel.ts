/** Shapes of channels. The interface says only that they are objects: the fields are those of the platform. */
import { Type } from 'typebox';
import { PictureSource } from './account.ts';
import { Count, Flag, OneOf, optional, ref } from './common.ts';

export const channelExample = '120363123456789012@newsletter';

const ChannelText = Type.Object({
  text: Type.String(),
  id: Type.String(),
  update_time: Type.String({ description: 'Unix time in microseconds; empty when it is unknown' }),
});

const ChannelPicture = Type.Object({ url: Type.String(), id: Type.String(), type: Type.String(), direct_path: Type.String() });

export const Channel = Type.Object(
  {
    id: Type.String(),
    state: Type.Object({ type: Type.String({ description: 'active, suspended or geosuspended' }) }),
    thread_metadata: Type.Object({
      creation_time: optional(Type.String({ description: 'Unix time in seconds' })),
      invite: Type.String({ description: 'The code of the link' }),
      name: ChannelText,
      description: ChannelText,
      handle: optional(Type.String({ description: 'The public name' })),
      subscribers_count: optional(Type.String()),
      verification: Type.String({ description: 'verified or unverified' }),
      picture: optional(ChannelPicture),
      preview: optional(ChannelPicture),
      settings: optional(Type.Object({ reaction_codes: Type.Object({ value: Type.String() }) })),
    }),
    viewer_metadata: optional(
      Type.Object({
        role: OneOf(['owner', 'admin', 'subscriber', 'guest'], { description: 'What the account is to the channel' }),
        mute: optional(OneOf(['on', 'off'], { description: 'Notices of new posts are off (`on`), or come (`off`)' })),
      }),
    ),
  },
  {
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
  },
);

/** A number in place of the text would lose its last digits. */
const Id = (description: string) => Type.String({ maxLength: 128, description, examples: [channelExample] });

/** The fields that name a channel. */
export const channelFields = {
  jid: optional(Id('The channel: its whole id, or the digits of it')),
  id: optional(Type.String({ maxLength: 128, description: 'The older name of `jid`' })),
};

export const ChannelBody = Type.Object(channelFields);

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
const description = Type.String({ maxLength: 2048, description: 'What the channel is about' });
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

export const NameField = { name };
export const DescriptionField = {
  description: Type.String({
    maxLength: 2048,
    description: 'What the channel is about; an empty text deletes the description',
    examples: ['Offers of every week'],
  }),
};
export const PictureField = { picture: PictureSource };
export const ReactionsField = {
  reactionCodes: Type.String({
    maxLength: 16,
    description: 'Which emojis followers may react with: all, basic or none',
    examples: ['basic'],
  }),
};
export const PhoneField = {
  phone: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    minLength: 1,
    maxLength: 128,
    description: 'The person: digits with the country code, or an id',
    examples: ['5511999999999'],
  }),
};
export const TransferFields = { ...PhoneField, quitAdmin: optional(Flag('The account is no admin afterwards, only a follower')) };

/** Channels in one page of a search: what the platform gives at most. */
export const mostFound = 100;

const Cursor = (description: string) => Type.String({ maxLength: 512, description });

export const SearchBody = Type.Object({
  searchText: optional(
    Type.String({ maxLength: 256, description: 'Words to look for; without any the directory is listed', examples: ['promo'] }),
  ),
  view: optional(
    Type.String({
      maxLength: 32,
      description: 'How the directory is listed: RECOMMENDED, TRENDING, POPULAR, NEW or FEATURED',
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
  cursor: optional(Cursor('As `after`')),
  startCursor: optional(Cursor('As `after`')),
  start_cursor: optional(Cursor('As `after`')),
});

export const SearchAnswer = Type.Object({
  response: Type.Object({
    after: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The cursor of the next page; null on the last one' }),
    data: Type.Array(ref(Channel)),
  }),
});
