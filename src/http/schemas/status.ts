/** Shapes of status posts. */
import { Type } from 'typebox';
import { fields, optional } from './common.ts';
import { SentAnswer } from './send.ts';

const Discarded = Type.Object(
  { input: Type.String(), reason: Type.String({ examples: ['lid_unresolved'] }) },
  { description: '`reason`: invalid, own_number, lid_unresolved or duplicate' },
);

const Debug = Type.Object(
  {
    status_privacy_type: Type.String({ description: 'contacts, allowlist or denylist', examples: ['contacts'] }),
    ...fields(
      `audience_recipient_count total_contacts_in_store contacts_with_full_name contacts_with_push_name_only contacts_with_business_name_only
       requested_recipient_count resolved_recipient_count discarded_recipient_count max_recipients selected_recipient_count`,
      Type.Integer(),
    ),
    ...fields('used_default_privacy_fallback explicit_recipients partial_send', Type.Boolean()),
    privacy_lookup_error: Type.String({ description: "Always '': without the privacy setting nothing is posted" }),
    discarded_recipients: Type.Array(Discarded, { description: 'At most 100 of them' }),
  },
  { description: 'How the recipients were found; of a post in the queue only when it is sent' },
);

export const StatusAnswer = Type.Intersect([
  SentAnswer('Status sent successfully'),
  Type.Object({ Id: Type.String(), debug: optional(Debug) }),
]);
