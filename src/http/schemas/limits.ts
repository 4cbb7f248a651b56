/** Shapes of the limits of an account. */
import { Type } from 'typebox';
import { fields, optional } from './common.ts';

const Quota = Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [10] });
const Moment = Type.String({ format: 'date-time' });
const looked = { available: Type.Boolean(), lookup_error: optional(Type.String({ description: 'Why the platform did not tell it' })) };

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
