/** Shapes of calls, and of the account's profile and privacy settings. */
import { type TSchema, Type } from 'typebox';
import { type PrivacySettings, privacyValues } from '#actors/gateway.ts';
import { Count, fields, like, LooseText, numberExample, OneOf, optional, Text } from './common.ts';

/** Largest length of a profile name at the platform, in characters. */
const longestName = 25;

export const ProfileNameBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: longestName,
    pattern: String.raw`\S`,
    description: 'The name that others see',
    examples: ['Shop'],
  }),
});

const updatedAt = Type.Integer({ description: 'Unix seconds' });

const changed = <T extends TSchema>(profile: T) => Type.Object({ success: Type.Boolean(), message: Type.String(), profile });

export const ProfileNameAnswer = changed(Type.Object({ name: Type.String(), updated_at: updatedAt }));

/** The picture of a person or a group. */
export const PictureSource = Type.String({
  description: 'Address, data URL or base64 of a picture; `remove` or an empty text takes the picture away',
  examples: ['https://example.com/team.jpg'],
});

export const ProfilePictureBody = Type.Object({ image: PictureSource });

export const ProfilePictureAnswer = changed(
  Type.Object({ image_updated: Type.Boolean(), image_removed: Type.Boolean(), updated_at: updatedAt }),
);

const about: Readonly<Record<keyof typeof privacyValues, string>> = {
  groupadd: 'Who may add the account to groups',
  last: 'Who sees when it was there last',
  status: 'Who sees its about text',
  profile: 'Who sees its picture',
  readreceipts: 'Whether others learn what it read',
  online: 'Who sees whether it is there',
  calladd: 'Who may call it',
};

export const PrivacyCategories = Object.fromEntries(
  Object.entries(privacyValues).map(([name, values]) => [
    name,
    optional(OneOf(values, { description: about[name as keyof typeof about] })),
  ]),
);

const categories = Type.Object(PrivacyCategories);

export const PrivacyBody = Type.Unsafe<PrivacySettings>(categories);
export const PrivacyAnswer = Type.Unsafe<PrivacySettings>({
  ...categories,
  description: 'Categories that the platform does not report are absent',
});

const number = (description: string) => like(LooseText(100, description, 1), numberExample);

export const CallBody = Type.Object({
  number: number('Whom to call'),
  call_duration: optional(Count(0, 86_400, 'Seconds; 0 or absent: until somebody ends it')),
  fileUrl: optional(Type.String({ description: 'Sound to play: address, data URL or base64' })),
});

export const RejectBody = Type.Object({
  number: optional(LooseText(100, 'Number of the caller; if absent, any caller')),
  id: optional(Text(100, 'Id of the call; without it the last one that rings')),
});

export const CallAnswer = Type.Object({ response: Type.String() });

// Shapes of the limits of an account.

const Quota = Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [10] });
const Moment = Type.String({ format: 'date-time' });
const looked = { available: Type.Boolean(), lookup_error: optional(Type.String({ description: 'Reason why the look-up failed' })) };

export const Capping = Type.Object({
  ...looked,
  status: optional(Type.String({ examples: ['CAPPED'] })),
  used_quota: optional(Quota),
  total_quota: optional(Quota),
  cycle_start: optional(Moment),
  cycle_end: optional(Moment),
  server_sent_at: optional(Moment),
  ote_status: optional(Type.String({ examples: ['EXHAUSTED'] })),
  mv_status: optional(Type.String({ examples: ['ACTIVE'] })),
});

export const Timelock = Type.Object({
  ...looked,
  active: optional(Type.Boolean()),
  until: optional(Type.String({ format: 'date-time', description: 'Only while it is active' })),
  enforcement_type: optional(Type.String({ examples: ['BIZ_QUALITY'] })),
});

export const LimitsAnswer = Type.Object({
  ...fields('provider message message_ptbr diagnostics_endpoint', Type.String()),
  reachable: Type.Boolean({ description: 'The platform answered' }),
  can_send_new_messages: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'null: not known' }),
  error_key: optional(Type.String({ examples: ['WHATSAPP_REACHOUT_TIMELOCK'] })),
  provider_message: optional(Type.String()),
  provider_message_ptbr: optional(Type.String()),
  new_chat_message_capping: Capping,
  reachout_timelock: Timelock,
});
