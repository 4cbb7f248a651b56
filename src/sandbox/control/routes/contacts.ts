/** Routes for contacts: the list of them, their receipts, presence and calls. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { CallView, Sandbox } from '../../face.ts';
import { answers, Digits, Done, done, MessageId, NumberParams, People } from '../schemas.ts';

const tags = ['contacts'];

const Receipts = Type.Object({
  type: Type.Enum(['delivered', 'read', 'played']),
  ids: Type.Optional(Type.Array(MessageId, { minItems: 1, maxItems: 10_000, description: 'a list of message ids' })),
  chat: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'the chat as the received messages name it' })),
});

const Presence = Type.Object({
  state: Type.Enum(['composing', 'recording', 'paused', 'available', 'unavailable']),
  to: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'a number or the jid of a group' })),
});

const Call = Type.Object({
  to: Digits,
  step: Type.Enum(['offer', 'accept', 'reject', 'timeout', 'terminate']),
  id: Type.Optional(MessageId),
  video: Type.Optional(Type.Boolean()),
});

const Calls = Type.Unsafe<readonly CallView[]>(
  Type.Array(
    Type.Object({ id: Type.String(), from: Type.String(), to: Type.String(), video: Type.Boolean(), steps: Type.Array(Type.Unknown()) }),
  ),
);

export const contacts: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  app.post(
    '/contacts/:number/receipts',
    {
      schema: {
        tags,
        summary: 'A person sends receipts for messages: for those in `ids`, else for all of `chat`',
        params: NumberParams,
        body: Receipts,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.receipt(number, body).then(() => done),
  );

  app.post(
    '/contacts/:number/presence',
    {
      schema: {
        tags,
        summary: 'A person changes its presence: composing, recording, paused, available, unavailable',
        params: NumberParams,
        body: Presence,
        response: answers(Done),
      },
    },
    async ({ params: { number }, body }) => sandbox.presence(number, body).then(() => done),
  );

  app.post(
    '/contacts/:number/calls',
    {
      schema: {
        tags,
        summary: 'A step of a call: offer, accept, reject, timeout, terminate',
        params: NumberParams,
        body: Call,
        response: answers(Type.Object({ id: Type.String() })),
      },
    },
    async ({ params: { number }, body: { to, ...step } }) => sandbox.call(number, to, step),
  );

  app.get(
    '/calls',
    { schema: { tags, summary: 'All calls since the start, with the steps of both sides', response: answers(Calls) } },
    async () => sandbox.callLog(),
  );

  app.get('/contacts', { schema: { tags, summary: 'People without a linked device', response: answers(People) } }, async () =>
    sandbox.people().filter(({ devices }) => devices.length === 0),
  );
};
