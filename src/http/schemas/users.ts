/** Shapes of users, of their sign-in, and of the sessions of the dashboard. */
import { Type } from 'typebox';
import { passwordLengths } from '#actors/gateway.ts';
import { RoleName, sessionFields } from '#src/contract/views.ts';
import { Flag, like, optional, Text } from './common.ts';

const UserId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the user', examples: ['u3f9a0c81d2e4b5'] });

/** Makes the schema of a password. The bound limits the cost of hashing. The gateway itself checks the exact lengths. */
const Password = (description: string) =>
  Type.String({ minLength: 1, maxLength: passwordLengths.max * 2, description, examples: ['a long secret of mine'] });

const NewPassword = Password(`${passwordLengths.min} to ${passwordLengths.max} characters`);

const Code = like(Text(16, 'The one-time code that the authenticator app shows, six digits'), '123456');

const Millis = (description: string) => Type.Number({ description: `${description}, in Unix milliseconds` });

export const UserAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: RoleName,
  hasCode: Flag('True if a sign-in needs a one-time code'),
  createdAt: Millis('The time at which the user was added'),
  lastSignInAt: Millis('The time of the last sign-in; 0 before the first'),
});

export const UsersAnswer = Type.Object({ users: Type.Array(UserAnswer) });

export const CreateUserBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Letters a to z, digits, dots, hyphens, underscores and @',
    examples: ['ana'],
  }),
  role: RoleName,
  password: NewPassword,
});

export const UpdateUserBody = Type.Object({
  id: UserId,
  role: optional(RoleName),
  password: optional(NewPassword),
  resetCode: optional(Flag('Remove the one-time code, for a user who lost the phone')),
});

export const UserBody = Type.Object({ id: UserId });

export const SignInBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the user', examples: ['ana'] }),
  password: Password('Of the user'),
  code: optional(Code),
});

export const OwnPasswordBody = Type.Object({ password: Password('The present password'), newPassword: NewPassword });

export const CodeOffered = Type.Object({
  secret: Type.String({ description: 'The secret in base 32, for typing into an authenticator app' }),
  uri: Type.String({ description: 'The address in the QR code' }),
  picture: Type.String({ description: 'The QR code: PNG as a data URL' }),
});

export const ConfirmCodeBody = Type.Object({
  secret: like(Text(64, 'The secret from `POST /admin/me/code`'), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'),
  password: Password('Of the user'),
  code: Code,
});

export const OfferCodeBody = Type.Object({ password: Password('Of the user') });

export const RemoveCodeBody = OfferCodeBody;

export const SessionsAnswer = Type.Object({ sessions: Type.Array(Type.Object(sessionFields)) });

export const EndSessionBody = Type.Object({
  id: optional(Text(64, 'Id of one session')),
  userId: optional(Text(64, 'The id of a user whose sessions all end')),
});

export const SessionsEnded = Type.Object({ ended: Type.Integer({ description: 'The number of sessions that ended' }) });
