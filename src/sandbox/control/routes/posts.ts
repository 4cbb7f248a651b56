/** Routes of posts of channels: write, look at, change, see and react to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { PostChange, PostView, Sandbox } from '../../face.ts';
import { contentOf, Post } from '../contents.ts';
import { answers, ChannelJid, Digits, mediaBodyLimit, MessageId } from '../schemas.ts';

const tags = ['channels'];

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

const ChangeBody = Type.Unsafe<PostChange>({
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
        body: Post,
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
        body: ChangeBody,
        response: answers(View),
      },
    },
    async ({ params: { jid, serverId }, body }) => sandbox.changePost(jid, serverId, body),
  );
};
