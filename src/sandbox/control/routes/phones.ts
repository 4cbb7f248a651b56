/** Routes for phones: link a client by its QR code or pairing code, rename a person, remove linked devices. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { type Sandbox, SandboxError } from '../../face.ts';
import type { Camera } from '../camera.ts';
import { answers, Digits, Done, done, mediaBodyLimit, Name, NumberParams, People, Person } from '../schemas.ts';

const tags = ['phones'];

const History = Type.Object(
  {
    chats: Type.Integer({ minimum: 0, maximum: 5000 }),
    messages: Type.Integer({ minimum: 0, maximum: 1000 }),
    calls: Type.Optional(Type.Integer({ minimum: 0, maximum: 500 })),
    statuses: Type.Optional(Type.Integer({ minimum: 0, maximum: 500 })),
    perNotification: Type.Optional(Type.Integer({ minimum: 1, maximum: 50_000 })),
    withheld: Type.Optional(Type.Enum(['keys', 'history'])),
  },
  {
    description:
      'an invented history that the phone sends: the number of chats, of messages in each, of missed calls and of status posts; the number of messages from which on a notification is full; and `withheld`: the phone shares the keys of its settings only when it is asked, or no history',
  },
);

const Scan = Type.Object({
  qrcode: Type.Optional(Type.String({ minLength: 1, description: 'a PNG picture of the QR code, as a data URL or base64' })),
  qr: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'the text inside the QR code' })),
  number: Type.Optional(Digits),
  name: Type.Optional(Name),
  history: Type.Optional(History),
});

const Code = Type.Object({
  number: Digits,
  code: Type.String({ pattern: '^[A-Za-z0-9]{4}-?[A-Za-z0-9]{4}$', description: 'a pairing code of 8 characters' }),
  name: Type.Optional(Name),
  history: Type.Optional(History),
});

const StatusPrivacyBody = Type.Union(
  [
    Type.Literal('unavailable'),
    Type.Object({
      type: Type.Enum(['contacts', 'whitelist', 'blacklist']),
      numbers: Type.Array(Digits, { maxItems: 10_000, description: 'a list of numbers' }),
    }),
  ],
  { description: "Who sees the person's status posts; `unavailable`: the platform does not say" },
);

const PersonBody = Type.Object({
  name: Type.Optional(Name),
  autoDeliver: Type.Optional(Type.Boolean({ description: 'True: the phone sends a delivery receipt for every message that it decrypted' })),
  reinstalled: Type.Optional(Type.Boolean({ description: 'True: the app was set up anew on the phone, which has other keys from now on' })),
  asleep: Type.Optional(Type.Boolean({ description: 'True: the phone answers no request of its linked devices' })),
  business: Type.Optional(
    Type.Boolean({ description: 'True: the phone has the app for businesses; a client learns it when it is linked, so set it before' }),
  ),
  absent: Type.Optional(Type.Boolean({ description: 'True: there is no account with this number any more' })),
  withoutLid: Type.Optional(Type.Boolean({ description: 'True: the platform tells no LID of this number' })),
  needsTokens: Type.Optional(Type.Boolean({ description: 'True: messages without a privacy token of the person are refused (463)' })),
  withoutNumber: Type.Optional(Type.Boolean({ description: 'True: the platform tells nobody the number; everything names the LID alone' })),
  migrated: Type.Optional(Type.Boolean({ description: 'True: messages to the number are refused (463), those to the LID are taken' })),
  readReceipts: Type.Optional(Type.Boolean({ description: 'False: the person tells nobody what was read' })),
  statusPrivacy: Type.Optional(StatusPrivacyBody),
});

export const phones: FastifyPluginAsyncTypebox<{ sandbox: Sandbox; camera: Camera }> = async (app, { sandbox, camera }) => {
  app.post(
    '/phones/scan',
    {
      bodyLimit: mediaBodyLimit,
      schema: { tags, summary: 'The phone scans a QR code and links the client that shows it', body: Scan, response: answers(Person) },
    },
    async ({ body: { qrcode, qr, ...owner } }) => {
      const text = qr ?? (qrcode === undefined ? undefined : await camera.read(qrcode));
      if (text === undefined) throw new SandboxError(400, 'qrcode or qr is required');
      return sandbox.scan({ qr: text, ...owner });
    },
  );

  app.post(
    '/phones/code',
    {
      schema: {
        tags,
        summary: 'The owner of the phone types the pairing code that the client shows',
        body: Code,
        response: answers(Person),
      },
    },
    async ({ body }) => sandbox.enterCode(body),
  );

  app.post(
    '/phones/:number/logout',
    { schema: { tags, summary: 'The phone removes its linked devices', params: NumberParams, response: answers(Done) } },
    async ({ params: { number } }) => sandbox.logout(number).then(() => done),
  );

  app.put(
    '/phones/:number',
    {
      schema: {
        tags,
        summary: 'Creates or renames a person',
        params: NumberParams,
        body: PersonBody,
        response: answers(Person),
      },
    },
    async ({ params: { number }, body }) => sandbox.putPerson({ number, ...body }),
  );

  app.get('/phones', { schema: { tags, summary: 'People with linked devices', response: answers(People) } }, async () =>
    sandbox.people().filter(({ devices }) => devices.length > 0),
  );
};
