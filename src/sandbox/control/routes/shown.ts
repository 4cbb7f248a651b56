/** The route for what phones show of a chat. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox, ShownMessage } from '../../face.ts';
import { answers, NumberParams, Recipient } from '../schemas.ts';

const tags = ['contacts'];

const Shown = Type.Unsafe<readonly ShownMessage[]>(
  Type.Array(
    Type.Object({
      id: Type.String(),
      from: Type.String(),
      text: Type.String(),
      edited: Type.Boolean(),
      deleted: Type.Boolean(),
      reactions: Type.Record(Type.String(), Type.String(), { description: 'Emojis by number' }),
      pinnedUntil: Type.Number({ description: 'Unix time in milliseconds, 0 when it is not pinned' }),
      kept: Type.Boolean(),
      read: Type.Boolean({ description: 'On this phone or by a linked device' }),
    }),
  ),
);

export const shown: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.get(
    '/contacts/:number/shown',
    {
      schema: {
        tags,
        summary: 'A chat as the phone of a person shows it, oldest first: edits, deletions, reactions and pins are applied',
        params: NumberParams,
        querystring: Type.Object({ chat: Recipient }),
        response: answers(Shown),
      },
    },
    async ({ params: { number }, query }) => sandbox.shown(number, query.chat),
  );
};
