/** Routes for passkeys of accounts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Assertion, RequestOptions, Sandbox } from '../../face.ts';
import { answers, Done, done, NumberParams } from '../schemas.ts';

const tags = ['phones'];

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
