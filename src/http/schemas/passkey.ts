/** Shapes of linking an account that has a passkey. */
import { Type } from 'typebox';
import { FreeObject, like, OneOf, optional, Text, TextOrNull } from './common.ts';

const stages = ['assertion', 'phone', 'code'] as const;

const noticeFields = {
  stage: OneOf(stages, {
    description:
      "`assertion`: the owner's browser has to sign; `phone`: the phone is asked; `code`: somebody compares the code with the phone",
  }),
  code: Type.String({ description: 'The code that the phone shows too, such as `ABCD-1234`; empty before there is one' }),
  expires: Type.String({ description: 'When this stage ends by itself' }),
};

/** In the answer of `GET /instance/status`. */
export const PasskeyNotice = Type.Object(noticeFields, { description: 'Only while the platform asks for the passkey of the account' });

export const PasskeyAnswer = Type.Object({
  stage: OneOf([...stages, 'none'], {
    description: '`none`: the platform does not ask for a passkey. See `GET /instance/status` for the others.',
  }),
  code: noticeFields.code,
  expires: noticeFields.expires,
  options: Type.Unsafe<Readonly<Record<string, unknown>> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'What the browser has to sign (`PublicKeyCredentialRequestOptionsJSON`); null beyond the stage `assertion`',
  }),
});

export const PasskeyCodeAnswer = Type.Object({
  code: like(Type.String({ description: 'Counts once, for ten minutes. A new one replaces it' }), 'ABCD-2345'),
  link: like(
    Type.String({ description: 'Address of this server and the code, to be pasted into the extension' }),
    'https://gateway.example.com#ABCD-2345',
  ),
  expires: Type.String({ description: 'When the code ends' }),
});

/** The fields of the instance that the browser of the owner may see. */
const followed = {
  ...PasskeyAnswer.properties,
  stage: OneOf([...stages, 'linked', 'none'], {
    description: '`linked`: the account is linked; `none`: linking is over without that',
  }),
};

export const FollowedAnswer = Type.Object(followed);

export const UsedCodeAnswer = Type.Object({
  ...followed,
  ticket: like(
    Type.String({ description: 'Takes the place of the code, which is used up: for the stage and for the confirmation' }),
    'Vb2',
  ),
});

const Base64Url = (description: string, example: string) =>
  like(
    Type.String({ minLength: 1, maxLength: 16_384, pattern: '^[A-Za-z0-9_-]+$', description: `${description}, base64url without padding` }),
    example,
  );

/** The fields of `PublicKeyCredential.toJSON()`; others are ignored. */
export const PasskeyBody = Type.Object({
  id: Base64Url('The id of the passkey', 'q3sWZ1bDDmz8x9lqQvQ4Yg'),
  rawId: Base64Url('The same id', 'q3sWZ1bDDmz8x9lqQvQ4Yg'),
  type: OneOf(['public-key'], { description: 'The kind of credential' }),
  response: Type.Object(
    {
      clientDataJSON: Base64Url('What the browser signed', 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0'),
      authenticatorData: Base64Url('What the authenticator says', 'EjRWeBI0VngSNFZ4'),
      signature: Base64Url('The signature', 'MEUCIQDsignature'),
      userHandle: optional(TextOrNull({ maxLength: 1024, description: 'The user of the passkey, or null' })),
    },
    { description: 'The answer of the authenticator' },
  ),
  authenticatorAttachment: optional(TextOrNull({ maxLength: 100, description: 'Ignored' })),
  clientExtensionResults: optional(FreeObject('Ignored')),
});

export const CancelledAnswer = Type.Object({ response: Text(100, 'What was done') });
