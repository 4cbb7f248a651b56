/** The route by which a phone asks for a message again. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox } from '../../face.ts';
import { answers, Digits, Done, done, GroupJid, MessageId, NumberParams } from '../schemas.ts';

export const retries: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/contacts/:number/retries',
    {
      schema: {
        tags: ['contacts'],
        summary: 'The phone of a person asks an account for a message again, whether it ever got it or not',
        params: NumberParams,
        body: Type.Object({ of: Digits, messageId: MessageId, group: Type.Optional(GroupJid) }),
        response: answers(Done),
      },
    },
    async ({ params: { number }, body: { of, messageId, group } }) => sandbox.askAgain(number, of, messageId, group).then(() => done),
  );
};
