/** Routes of channels: make, show, change and follow them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { ChannelChange, ChannelView, PostChange, PostView, Sandbox } from '../../interface.ts';
import { answers, ChannelJid, contentOf, Digits, mediaBodyLimit, MessageId, Name, parseBase64, PostBody } from '../contents.ts';

const tags = ['channels'];

const params = Type.Object({ jid: ChannelJid });
const Description = Type.String({ maxLength: 2048, description: 'a text of at most 2048 characters' });

const Channel = Type.Unsafe<ChannelView>(
  Type.Object({
    jid: Type.String(),
    name: Type.String(),
    description: Type.String(),
    invite: Type.String({ description: 'The code of the link' }),
    handle: Type.Union([Type.String(), Type.Null()]),
    picture: Type.Optional(Type.String({ description: 'The id of the picture' })),
    reactions: Type.Enum(['ALL', 'BASIC', 'NONE']),
    state: Type.Enum(['ACTIVE', 'SUSPENDED', 'GEOSUSPENDED', 'DELETED']),
    verified: Type.Boolean(),
    country: Type.String(),
    createdAt: Type.Number({ description: 'Unix time in milliseconds' }),
    followers: Type.Array(
      Type.Object({
        number: Type.String(),
        role: Type.Enum(['OWNER', 'ADMIN', 'SUBSCRIBER']),
        muted: Type.Boolean(),
        followersMuted: Type.Boolean(),
        since: Type.Number(),
      }),
    ),
    invitations: Type.Array(Type.Object({ number: Type.String(), expiresAt: Type.Number() }), {
      description: 'Who is invited to be an admin',
    }),
  }),
);

type Change = { readonly by: string } & ChannelChange;

/** The fields of each change. Actions with the same fields share a row. */
const branches = [
  { actions: ['follow', 'unfollow', 'mute', 'unmute', 'acceptAdmin', 'delete'], fields: {} },
  { actions: ['name'], fields: { text: Name } },
  { actions: ['status'], fields: { text: Name } },
  { actions: ['description'], fields: { text: Description } },
  { actions: ['picture'], fields: { data: Type.String({ description: 'the bytes as base64 or as a data URL; empty: no picture' }) } },
  { actions: ['reactions'], fields: { value: Type.Enum(['ALL', 'BASIC', 'NONE']) } },
  { actions: ['inviteAdmin', 'revokeAdmin', 'removeAdmin', 'transfer'], fields: { who: Digits } },
];

const ChangeBody = Type.Unsafe<Change>({
  type: 'object',
  required: ['action'],
  discriminator: { propertyName: 'action' },
  oneOf: branches.map(({ actions, fields }) =>
    Type.Object({ action: Type.Enum(actions), by: Digits, ...fields }, { additionalProperties: false, title: actions.join(',') }),
  ),
});

const Facts = Type.Object(
  {
    state: Type.Optional(Type.Enum(['ACTIVE', 'SUSPENDED', 'GEOSUSPENDED'])),
    verified: Type.Optional(Type.Boolean()),
    handle: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 60 }), Type.Null()])),
    country: Type.Optional(Type.String({ pattern: '^([A-Z]{2})?$', description: 'two capital letters, or empty' })),
    expireInvitations: Type.Optional(Type.Boolean({ description: 'invitations of admins have run out' })),
  },
  { additionalProperties: false },
);

/** Removes the prefix of a data URL, because the `Sandbox` interface accepts only base64. */
const bare = (change: ChannelChange): ChannelChange =>
  change.action === 'picture' && change.data !== '' ? { ...change, data: parseBase64(change.data, 'data').data } : change;

export const channels: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.get('/channels', { schema: { tags, summary: 'All channels', response: answers(Type.Array(Channel)) } }, async () => [
    ...sandbox.channels(),
  ]);
  app.get('/channels/:jid', { schema: { tags, summary: 'One channel', params, response: answers(Channel) } }, async ({ params: { jid } }) =>
    sandbox.channel(jid),
  );
  app.post(
    '/channels',
    {
      schema: {
        tags,
        summary: 'A person creates a channel',
        body: Type.Object({ name: Name, owner: Digits, description: Type.Optional(Description) }),
        response: answers(Channel),
      },
    },
    async ({ body }) => sandbox.createChannel(body),
  );
  app.post(
    '/channels/:jid',
    {
      bodyLimit: mediaBodyLimit,
      schema: { tags, summary: 'A person follows, mutes or changes a channel', params, body: ChangeBody, response: answers(Channel) },
    },
    async ({ params: { jid }, body: { by, ...change } }) => sandbox.changeChannel(jid, by, bare(change)),
  );
  app.post(
    '/channels/:jid/facts',
    { schema: { tags, summary: 'The platform decides about a channel', params, body: Facts, response: answers(Channel) } },
    async ({ params: { jid }, body }) => sandbox.setChannelFacts(jid, body),
  );
};

// Routes of posts of channels: write, show, change, see and react to them.

const ServerId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'the number of a post in its channel' });
const ofChannel = Type.Object({ jid: ChannelJid });
const ofPost = Type.Object({ jid: ChannelJid, serverId: ServerId });

const View = Type.Unsafe<PostView>(
  Type.Object({
    serverId: ServerId,
    id: Type.String(),
    author: Type.String(),
    at: Type.Number({ description: 'Unix time in milliseconds' }),
    edited: Type.Boolean(),
    deleted: Type.Boolean(),
    kind: Type.String({ description: 'First field of the protobuf message' }),
    text: Type.String(),
    content: Type.Unknown({ description: 'The protobuf message, bytes as base64' }),
    views: Type.Integer(),
    reactions: Type.Record(Type.String(), Type.Integer(), { description: 'Counts by emoji' }),
    file: Type.Optional(Type.Object({ bytes: Type.Integer(), sha256: Type.String() })),
  }),
);

const by = { by: Type.Optional(Digits) };

const PostChangeBody = Type.Unsafe<PostChange>({
  type: 'object',
  required: ['action'],
  discriminator: { propertyName: 'action' },
  oneOf: [
    { action: 'edit', fields: { ...by, text: Type.String({ minLength: 1, maxLength: 65_536 }) } },
    { action: 'delete', fields: by },
    { action: 'react', fields: { by: Digits, emoji: Type.String({ maxLength: 64, description: 'an emoji; empty: no reaction' }) } },
    { action: 'view', fields: { by: Digits } },
  ].map(({ action, fields }) => Type.Object({ action: Type.Literal(action), ...fields }, { additionalProperties: false, title: action })),
});

export const posts: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/channels/:jid/posts',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'An admin posts in a channel; without `by` the owner',
        params: ofChannel,
        body: PostBody,
        response: answers(Type.Object({ id: MessageId, serverId: ServerId })),
      },
    },
    async ({ params: { jid }, body }) => sandbox.post(jid, { content: contentOf(body), ...(body.by === undefined ? {} : { by: body.by }) }),
  );

  app.get(
    '/channels/:jid/posts',
    {
      schema: {
        tags,
        summary: 'The posts of a channel, newest first',
        params: ofChannel,
        querystring: Type.Object({
          before: Type.Optional(ServerId),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 300, description: 'a number from 1 to 300' })),
        }),
        response: answers(Type.Unsafe<readonly PostView[]>(Type.Array(View))),
      },
    },
    async ({ params: { jid }, query }) => sandbox.posts(jid, query),
  );

  app.post(
    '/channels/:jid/posts/:serverId',
    {
      schema: {
        tags,
        summary: 'Somebody edits, takes back, sees or reacts to a post',
        params: ofPost,
        body: PostChangeBody,
        response: answers(View),
      },
    },
    async ({ params: { jid, serverId }, body }) => sandbox.changePost(jid, serverId, body),
  );
};
