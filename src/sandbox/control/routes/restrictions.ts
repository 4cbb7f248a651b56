/** The route by which the platform restricts an account from writing to strangers. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Sandbox } from '../../face.ts';
import { answers, Done, done, NumberParams } from '../schemas.ts';

const tags = ['phones'];

const Moment = Type.Optional(Type.Integer({ minimum: 0, description: 'Unix time in milliseconds' }));
const Quota = Type.Optional(Type.Integer({ minimum: 0 }));

const RestrictionsBody = Type.Object({
  timeLock: Type.Optional(
    Type.Object(
      { active: Type.Boolean(), until: Moment, type: Type.Optional(Type.String({ maxLength: 100 })) },
      { description: 'while it is active, messages to people who never wrote are refused with 463' },
    ),
  ),
  capping: Type.Optional(
    Type.Object(
      {
        status: Type.Enum(['NONE', 'FIRST_WARNING', 'SECOND_WARNING', 'CAPPED']),
        used: Quota,
        total: Quota,
        cycleStart: Moment,
        cycleEnd: Moment,
      },
      { description: 'CAPPED: messages to people who never wrote are refused with 475' },
    ),
  ),
  oldQueries: Type.Optional(Type.Boolean({ description: 'the platform knows only the older query for the quota' })),
});

export const restrictions: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.put(
    '/phones/:number/restrictions',
    {
      schema: {
        tags,
        summary: 'The platform restricts an account from writing to strangers, or frees it, and tells its clients',
        params: NumberParams,
        body: RestrictionsBody,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.restrict(number, body).then(() => done),
  );
};
