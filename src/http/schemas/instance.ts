/** Shapes of instances: the bodies and answers of their endpoints. */
import { Type } from 'typebox';
import { deviceBrowsers, deviceSystems } from '#actors/gateway.ts';
import { instanceFields } from '#src/contract/views.ts';
import { Count, fields, FreeObject, like, LooseText, Name, OneOf, optional, ref, Text, TextOrNull } from './common.ts';
import { regionFields } from './proxy.ts';

// Shapes of linking an account that has a passkey.

const stages = ['assertion', 'phone', 'code'] as const;

const noticeFields = {
  stage: OneOf(stages, {
    description:
      "`assertion`: the owner's browser has to sign; `phone`: the phone is asked; `code`: somebody compares the code with the phone",
  }),
  code: Type.String({ description: 'The code that the phone shows too, such as `ABCD-1234`; empty before there is one' }),
  expires: Type.String({ description: 'Time at which this stage expires' }),
};

/** The state of a link with a passkey, as in the answer of `GET /instance/status`. */
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
    description: 'Options that the browser has to sign (`PublicKeyCredentialRequestOptionsJSON`); null after the stage `assertion`',
  }),
});

export const PasskeyCodeAnswer = Type.Object({
  code: like(Type.String({ description: 'Counts once, for ten minutes. A new one replaces it' }), 'ABCD-2345'),
  link: like(
    Type.String({ description: 'The address of this server with the code. The owner pastes it into the extension, and it opens no page' }),
    'https://gateway.example.com#ABCD-2345',
  ),
  expires: Type.String({ description: 'Time at which the code expires' }),
});

/** The fields that the browser of the account's owner may see. */
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

/** The fields of `PublicKeyCredential.toJSON()`; further fields are ignored. */
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

export const CancelledAnswer = Type.Object({ response: Text(100, 'Outcome') });

const instanceExample = {
  id: 'r183e2ef9597845',
  token: '3f1cPq0eXb7yJ5uKd2wZtG8vRnM4aL6sHhCoEiTB',
  status: 'connected',
  paircode: '',
  qrcode: '',
  name: 'shop',
  profileName: 'Shop',
  profilePicUrl: '',
  isBusiness: true,
  plataform: 'android',
  systemName: 'Dormouse',
  browser: 'chrome',
  system: 'Windows',
  owner: '5511988887777',
  current_presence: 'available',
  lastDisconnect: '2026-08-18 02:11:40.120Z',
  lastDisconnectReason: '428: connection closed',
  adminField01: 'client 456',
  adminField02: '',
  ai_apikey: '',
  chatbot_enabled: false,
  chatbot_ignoreGroups: false,
  chatbot_stopConversation: '',
  chatbot_stopMinutes: 0,
  chatbot_stopWhenYouSendMsg: 0,
  msg_delay_min: 0,
  msg_delay_max: 2,
  proxy_managed_country: '',
  currentTime: '2026-08-19 17:36:34.345Z',
  created: '2026-08-01 09:00:00.000Z',
  updated: '2026-08-19 17:36:30.002Z',
};

export const Instance = Type.Object(instanceFields, { $id: 'Instance', examples: [instanceExample] });

export const InstanceAnswer = ref(Instance);

const session = { connected: Type.Boolean(), loggedIn: Type.Boolean() };
const jid = TextOrNull({
  examples: ['5511988887777:57@s.whatsapp.net'],
  description: 'The session at the platform; null before the first pairing',
});

/** The appearance of the linked device, which is stored for the next pairing. A linked session keeps its present appearance. */
const deviceFields = {
  systemName: optional(Text(100, 'Name that the phone shows for the session, `Dormouse` without one')),
  browser: optional(
    OneOf(['auto', ...deviceBrowsers.toSorted().toReversed()], {
      description: 'Browser as which the phone lists the session; `auto` is chrome',
    }),
  ),
  system: optional(
    OneOf(deviceSystems, { description: 'System that the request of a pairing code names. The platform refuses every other name' }),
  ),
};

export const CreateBody = Type.Object({
  name: Name('Name of the instance'),
  adminField01: optional(Text(1000, 'Free field of the administrator')),
  adminField02: optional(Text(1000, 'Free field of the administrator')),
  ...deviceFields,
  ...regionFields,
});
export const CreateAnswer = Type.Object({
  ...fields('response name token info', Type.String()),
  ...session,
  instance: InstanceAnswer,
});

export const ConnectBody = Type.Object({
  phone: optional(LooseText(40, 'With it the session pairs by code, without it by QR code. 10 to 15 digits, with country code')),
  ...deviceFields,
  allowAccountChange: optional(
    Type.Boolean({
      description:
        'Pairs another account than before too. The instance then begins empty: chats, messages, contacts, files and campaigns of the account before are removed, and what waits is not sent. Without it another account is refused',
    }),
  ),
  ...regionFields,
});
export const ConnectAnswer = Type.Object({ ...session, jid, instance: InstanceAnswer });

export const StatusAnswer = Type.Object({
  instance: InstanceAnswer,
  status: Type.Object({ ...session, jid, passkey: optional(PasskeyNotice) }),
});

export const ClosedAnswer = Type.Object({ instance: InstanceAnswer, response: Type.String(), info: Type.String() });

const stillLinked = Type.Boolean({
  description: 'The logout did not reach the platform: the phone still lists the device, until somebody unlinks it there',
});

export const DisconnectedAnswer = Type.Object({ ...ClosedAnswer.properties, stillLinked });

/** The fields of the answer to a reset. A refused reset has them beside the error. */
export const resetFields = {
  resetting: Type.Boolean(),
  instanceId: Type.String(),
  queuedRecoveryAttempted: Type.Boolean({ description: 'Messages of the asynchronous queue wait and are sent after the restart' }),
};
export const ResetAnswer = Type.Object({ response: Type.String(), ...resetFields });

export const DeletedAnswer = Type.Object({ response: Type.String(), info: Type.String(), stillLinked });

export const NameBody = Type.Object({ name: Name('New name of the instance') });

export const AdminFieldsBody = Type.Object({
  id: Name('Id of the instance', 'r183e2ef9597845'),
  adminField01: optional(Text(1000, 'Free field of the administrator')),
  adminField02: optional(Text(1000, 'Free field of the administrator')),
});

/** The longest delay, in seconds. */
const longestDelay = 3_600;
export const DelayBody = Type.Object({
  msg_delay_min: Count(0, longestDelay, 'Seconds between two messages of the asynchronous queue, at least'),
  msg_delay_max: Count(0, longestDelay, 'The same, at most: each time is drawn between the two'),
});
export const DelayAnswer = Type.Object({ instance: InstanceAnswer });

export const PresenceBody = Type.Object({
  presence: OneOf(['available', 'unavailable'], { description: 'State that contacts see: online or not' }),
});
export const PresenceAnswer = Type.Object({ response: Type.String() });

/** Fields of the error for a rotation that comes too early. `retry_after_ms` is a duration in milliseconds. The other fields are times in Unix milliseconds. */
export const cooldownFields = fields('last_rotated_at next_rotation_at retry_after_ms', Type.Integer());

const rotated = { success: Type.Boolean(), message: Type.String(), timestamp: Type.Integer({ description: 'Unix milliseconds' }) };

export const TokenAnswer = Type.Object({ ...rotated, token: Type.String(), instance: InstanceAnswer });

export const AdminTokenAnswer = Type.Object({
  ...rotated,
  admin_token: Type.String({ description: '50 letters and digits' }),
  license_sync_triggered: Type.Boolean(),
  license_synced: Type.Boolean(),
});
