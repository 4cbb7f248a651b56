/** The route by which a channel posts to its followers. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox } from '../../face.ts';
import { contentOf, Post } from '../contents.ts';
import { answers, ChannelJid, mediaBodyLimit, MessageId } from '../schemas.ts';

const tags = ['contacts'];

export const channels: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/channels/:jid/posts',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'A channel posts to its followers',
        params: Type.Object({ jid: ChannelJid }),
        body: Post,
        response: answers(Type.Object({ id: MessageId })),
      },
    },
    async ({ params: { jid }, body }) => sandbox.post(jid, { followers: body.followers, content: contentOf(body) }),
  );
};
