/** Shapes of instances: what the endpoints take and answer. */
import { Type } from 'typebox';
import { statuses } from '#actors/gateway.ts';
import { fields, LooseText, Name, optional, ref, Text } from './common.ts';

export const Instance = Type.Object(
  {
    id: Type.String({ description: 'r and 14 hex digits' }),
    status: Type.Unsafe<string>({ type: 'string', enum: [...statuses] }),
    ...fields(
      `token paircode qrcode name profileName profilePicUrl plataform systemName owner lastDisconnect lastDisconnectReason adminField01
       adminField02 ai_apikey chatbot_stopConversation currentTime created updated`,
      Type.String(),
    ),
    ...fields('isBusiness chatbot_enabled chatbot_ignoreGroups', Type.Boolean()),
    ...fields('chatbot_stopMinutes chatbot_stopWhenYouSendMsg', Type.Integer()),
    current_presence: Type.Unsafe<string>({ type: 'string', enum: ['available', 'unavailable'] }),
    fieldsMap: Type.Object({}, { additionalProperties: true, description: 'only when it was set' }),
  },
  { $id: 'Instance' },
);

export const InstanceAnswer = ref('Instance');

const session = { connected: Type.Boolean(), loggedIn: Type.Boolean() };
const jid = Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['5534999999999:57@s.whatsapp.net'] });

export const CreateBody = Type.Object({
  name: Name('Name of the instance'),
  adminField01: optional(Text(1000, 'Free field of the administrator')),
  adminField02: optional(Text(1000, 'Free field of the administrator')),
});
export const CreateAnswer = Type.Object({
  ...fields('response name token info', Type.String()),
  ...session,
  instance: InstanceAnswer,
});

export const ConnectBody = Type.Object({
  phone: optional(LooseText(40, 'With it the session pairs by code, without it by QR code. 10 to 15 digits, with country code')),
  browser: optional(Type.Unsafe<string>({ type: 'string', enum: ['auto', 'safari', 'firefox', 'edge', 'chrome'] })),
  systemName: optional(Text(100, 'Name that the phone shows for this session')),
});
export const ConnectAnswer = Type.Object({ ...session, jid, instance: InstanceAnswer });

export const StatusAnswer = Type.Object({ instance: InstanceAnswer, status: Type.Object({ ...session, jid }) });

export const ClosedAnswer = Type.Object({ instance: InstanceAnswer, response: Type.String(), info: Type.String() });

export const ResetAnswer = Type.Object({ response: Type.String(), resetting: Type.Boolean(), instanceId: Type.String() });

export const DeletedAnswer = Type.Object({ response: Type.String(), info: Type.String() });

export const NameBody = Type.Object({ name: Name('New name of the instance') });

export const AdminFieldsBody = Type.Object({
  id: Name('Id of the instance'),
  adminField01: optional(Text(1000, 'Free field of the administrator')),
  adminField02: optional(Text(1000, 'Free field of the administrator')),
});

export const PresenceBody = Type.Object({
  presence: Type.Unsafe<'available' | 'unavailable'>({ type: 'string', enum: ['available', 'unavailable'] }),
});
export const PresenceAnswer = Type.Object({ response: Type.String() });

const rotated = { success: Type.Boolean(), message: Type.String(), timestamp: Type.Integer({ description: 'Unix milliseconds' }) };

export const TokenAnswer = Type.Object({ ...rotated, token: Type.String(), instance: InstanceAnswer });

export const AdminTokenAnswer = Type.Object({
  ...rotated,
  admin_token: Type.String({ description: '50 letters and digits' }),
  license_sync_triggered: Type.Boolean(),
  license_synced: Type.Boolean(),
});
