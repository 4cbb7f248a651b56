/** Routes for phones: link a client, rename a person, remove linked devices, the profile that an account shows, and passkeys. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { type AccountView, type Assertion, type RequestOptions, type Sandbox, SandboxError } from '../../interface.ts';
import type { Camera } from '../camera.ts';
import { answers, Digits, Done, done, mediaBodyLimit, Name, NumberParams, People, Person } from '../contents.ts';

// Routes for phones: link a client by its QR code or pairing code, rename a person, remove linked devices.

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
  registeredAnew: Type.Optional(
    Type.Boolean({
      description: 'True if the number has a new account, with another LID and other keys. Messages to the former LID are lost',
    }),
  ),
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

// Routes for the profile of an account and its visibility.

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

// Routes for passkeys of accounts.

const Free = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, description });

const Passkey = Type.Object({
  id: Type.String({ description: 'The id of the credential, base64url' }),
  stage: Type.Union([Type.Enum(['requested', 'proven', 'revealed', 'linking', 'refused']), Type.Null()], {
    description: 'How far the link is that waits for this passkey; null: none does',
  }),
  code: Type.String({ description: 'The code that the phone shows; empty before there is one' }),
  handedOff: Type.Boolean({ description: 'The phone asks for no comparison of codes' }),
});

const GiveBody = Type.Object({
  registration: Type.Optional(
    Free('`PublicKeyCredential.toJSON()` of a real authenticator; absent: the simulated platform keeps the private key'),
  ),
  fault: Type.Optional(
    Type.Enum(['refuse', 'bare', 'stall', 'twice'], {
      description:
        '`refuse`: every assertion is refused; `bare`: the client has to ask what to sign; `stall`: the phone never answers; `twice`: it answers twice',
    }),
  ),
});

const SignBody = Type.Object({
  options: Free('What has to be signed: `PublicKeyCredentialRequestOptionsJSON`'),
  origin: Type.Optional(Type.String({ maxLength: 200, description: 'The page that asks; https://web.whatsapp.com by default' })),
});

export const passkeys: FastifyPluginAsyncTypebox<{ sandbox: Sandbox }> = async (app, { sandbox }) => {
  const address = '/phones/:number/passkey';
  app.post(
    address,
    {
      schema: {
        tags,
        summary: 'Gives an account a passkey, so that it is linked only with it',
        params: NumberParams,
        body: GiveBody,
        response: answers(Passkey),
      },
    },
    async ({ params: { number }, body }) => sandbox.givePasskey(number, body),
  );
  app.get(
    address,
    { schema: { tags, summary: 'Shows how far a link is that waits for the passkey', params: NumberParams, response: answers(Passkey) } },
    async ({ params: { number } }) => sandbox.passkey(number),
  );
  app.delete(
    address,
    { schema: { tags, summary: 'Takes the passkey away', params: NumberParams, response: answers(Done) } },
    async ({ params: { number } }) => sandbox.takePasskey(number).then(() => done),
  );
  app.post(
    `${address}/registration`,
    {
      schema: {
        tags,
        summary: 'Gives what a real authenticator needs to make a passkey',
        params: NumberParams,
        response: answers(Free('`PublicKeyCredentialCreationOptionsJSON`')),
      },
    },
    async ({ params: { number } }) => sandbox.passkeyOptions(number),
  );
  app.post(
    `${address}/assertion`,
    {
      schema: {
        tags,
        summary: 'Signs as the browser of the owner would',
        params: NumberParams,
        body: SignBody,
        response: answers(Type.Unsafe<Assertion>(Free('The assertion'))),
      },
    },
    async ({ params: { number }, body: { options, origin } }) =>
      sandbox.signWithPasskey(number, options as unknown as RequestOptions, origin),
  );
};
