/** Routes for what an account shows of itself, and to whom. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { AccountView, Sandbox } from '../../face.ts';
import { answers, Digits, mediaBodyLimit, NumberParams } from '../schemas.ts';

const tags = ['phones'];

const View = Type.Unsafe<AccountView>(
  Type.Object({
    about: Type.String(),
    privacy: Type.Record(Type.String(), Type.String()),
    blocked: Type.Array(Type.String()),
    picture: Type.Optional(Type.Object({ id: Type.String(), url: Type.String() })),
    disappearing: Type.Integer({ description: 'Seconds after which messages of new chats disappear; 0: never' }),
    online: Type.Boolean(),
    subscriptions: Type.Array(Type.String(), { description: 'Whose presence the connected clients subscribed to' }),
  }),
);

const Change = Type.Object({
  about: Type.Optional(Type.String({ maxLength: 500 })),
  username: Type.Optional(
    Type.String({ maxLength: 35, description: 'the name by which others find the account; an empty one removes it' }),
  ),
  privacy: Type.Optional(
    Type.Record(Type.String(), Type.Enum(['all', 'contacts', 'contact_blacklist', 'none', 'match_last_seen', 'known'])),
  ),
  blocked: Type.Optional(Type.Array(Digits, { maxItems: 10_000, description: 'a list of numbers' })),
  picture: Type.Optional(Type.String({ maxLength: 2_000_000, description: 'a picture in base64; an empty one removes it' })),
});

export const account: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.get(
    '/phones/:number/account',
    {
      schema: {
        tags,
        summary: 'About text, picture, privacy, blocked people and presence subscriptions of an account',
        params: NumberParams,
        response: answers(View),
      },
    },
    async ({ params: { number } }) => sandbox.account(number),
  );

  app.put(
    '/phones/:number/account',
    {
      bodyLimit: mediaBodyLimit,
      schema: {
        tags,
        summary: 'The owner of the phone changes about text, username, picture, privacy or blocked people; what is absent stays',
        params: NumberParams,
        body: Change,
        response: answers(View),
      },
    },
    async ({ params: { number }, body }) => sandbox.changeAccount(number, body),
  );
};
