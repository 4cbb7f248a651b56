/** Routes for contacts and for the messages that simulated people send and receive, with their receipts, presence and calls. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { type CallView, type ReceivedMessage, type Sandbox, SandboxError } from '../../interface.ts';
import {
  answers,
  contentOf,
  Digits,
  Done,
  done,
  GroupJid,
  mediaBodyLimit,
  MessageBody,
  MessageId,
  NumberParams,
  People,
} from '../contents.ts';
import type { SentMessage } from '../../store/queue.ts';
import type { SentLog } from '../sent-log.ts';

// Routes for the messages that simulated people send and receive.

const tags = ['contacts'];

const Received = Type.Unsafe<readonly ReceivedMessage[]>(
  Type.Array(
    Type.Object({
      id: Type.String(),
      chat: Type.String({ description: "The sender's jid, or the group's" }),
      from: Type.String(),
      pushName: Type.String(),
      at: Type.Number({ description: 'Unix time in milliseconds' }),
      envelope: Type.Enum(['pkmsg', 'msg', 'skmsg', 'plain']),
      kind: Type.String({ description: 'First field of the protobuf message' }),
      text: Type.String(),
      content: Type.Unknown({ description: 'The decrypted protobuf message, bytes as base64' }),
      expiration: Type.Optional(Type.Integer({ description: 'Seconds after which the phone takes it away' })),
      interactive: Type.Optional(Type.Unknown({ description: 'Buttons, rows and cards as the phone shows them' })),
      media: Type.Optional(
        Type.Object(
          { bytes: Type.Integer(), sha256: Type.String() },
          { additionalProperties: true, description: 'The decrypted file: hash, type, thumbnail, length, marks such as viewOnce' },
        ),
      ),
      heads: Type.Optional(Type.Array(Type.String(), { description: 'SHA-256 of the files above texts' })),
      error: Type.Optional(Type.String({ description: 'Why it could not be decrypted' })),
      opened: Type.Optional(Type.Unknown({ description: 'What was encrypted once more inside, such as the change of an event' })),
      hidden: Type.Optional(Type.String({ description: 'Why the phone shows nothing of it' })),
    }),
  ),
);

const Sent = Type.Unsafe<readonly SentMessage[]>(
  Type.Array(
    Type.Object({
      id: Type.String(),
      from: Type.String(),
      to: Type.String(),
      at: Type.Number(),
      kind: Type.String(),
      text: Type.String(),
      about: Type.Optional(Type.String({ description: 'The message that this one is about' })),
      status: Type.Enum(['sent', 'delivered', 'read', 'played']),
    }),
  ),
);

const Page = Type.Object({
  after: Type.Optional(MessageId),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'a number from 1 to 10000' })),
});

/** Returns at most `limit` messages after the message with the id `after`. */
const pageOf = <M extends { readonly id: string }>(messages: readonly M[], { after, limit }: Type.Static<typeof Page>): readonly M[] => {
  const last = after === undefined ? -1 : messages.findLastIndex(({ id }) => id === after);
  if (after !== undefined && last < 0) throw new SandboxError(404, `no message ${after}`);
  return messages.slice(last + 1, limit === undefined ? undefined : last + 1 + limit);
};

export const messages: FastifyPluginAsyncTypebox<{ sandbox: Sandbox; sentLog: SentLog }> = async (app, { sandbox, sentLog }) => {
  app.post(
    '/contacts/:number/messages',
    {
      bodyLimit: mediaBodyLimit,
      // The schema chooses its branch by the type. A body without a type is a text message, so the type is added before the validation.
      preValidation: async (request) => {
        if (!Array.isArray(request.body)) request.body = Object.assign({ type: 'text' }, request.body);
      },
      schema: {
        tags,
        summary: 'A person sends a message to a number or a group; a body without `type` is taken for a text, although the schema names it',
        params: NumberParams,
        body: MessageBody,
        response: answers(Type.Object({ id: MessageId })),
      },
    },
    async ({ params: { number }, body }) => sentLog.send(number, body.to, contentOf(body), body.addressing),
  );

  app.get(
    '/contacts/:number/messages',
    {
      schema: {
        tags,
        summary: 'The messages that a person received, decrypted, oldest first',
        params: NumberParams,
        querystring: Page,
        response: answers(Received),
      },
    },
    async ({ params: { number }, query }) => pageOf(sandbox.received(number), query),
  );

  app.get(
    '/contacts/:number/sent',
    {
      schema: {
        tags,
        summary: 'The messages that a person sent, with their status, oldest first',
        params: NumberParams,
        querystring: Page,
        response: answers(Sent),
      },
    },
    async ({ params: { number }, query }) => pageOf(sentLog.sentBy(number), query),
  );
};

/** Adds the route by which a phone asks for a message again. */
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

// Routes for contacts: their list, receipts, presence and calls.

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
