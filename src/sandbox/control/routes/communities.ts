/** Routes for making communities, and for the groups that belong to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox } from '../../face.ts';
import { addressing, answers, Digits, Group, GroupJid } from '../schemas.ts';
import { Subject } from './groups.ts';

const tags = ['groups'];

const Edited = Type.Unsafe<Awaited<ReturnType<Sandbox['editCommunity']>>>(
  Type.Array(Type.Object({ jid: Type.String(), error: Type.Optional(Type.String()) })),
);

export const communities: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/communities',
    {
      schema: {
        tags,
        summary: 'A person creates a community, with its group of announcements',
        body: Type.Object({
          subject: Subject,
          creator: Digits,
          addressing: Type.Optional(addressing('How members are named on the wire')),
        }),
        response: answers(Group),
      },
    },
    async ({ body }) => sandbox.createCommunity(body),
  );

  app.post(
    '/communities/:jid',
    {
      schema: {
        tags,
        summary: 'An admin puts groups into a community, or takes them out of it',
        params: Type.Object({ jid: GroupJid }),
        body: Type.Object({
          by: Digits,
          action: Type.Enum(['link', 'unlink']),
          groups: Type.Array(GroupJid, { minItems: 1, maxItems: 100, description: 'a list of 1 to 100 groups' }),
        }),
        response: answers(Edited),
      },
    },
    async ({ params: { jid }, body: { by, ...change } }) => sandbox.editCommunity(jid, by, change),
  );
};
