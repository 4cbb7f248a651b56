/** Shapes that all sends share. */
import { type TSchema, Type } from 'typebox';
import { Count, fields, Flag, LooseText, NumberText, optional, ref, Text } from './common.ts';
import { Message } from './message.ts';

/** The recipient of a message. */
export const Recipient = NumberText('Digits with country code, or an id with its suffix');

/** The fields of all sends. */
export const sendOptions = {
  delay: optional(Count(0, 300_000, 'Milliseconds of visible typing before the send')),
  readchat: optional(Flag('Mark the chat as read')),
  readmessages: optional(Flag('Mark the last received messages as read')),
  replyid: optional(Text(200, 'Id of the message to quote')),
  mentions: optional(Text(20_000, 'Numbers to mention, separated by commas, or `all`')),
  forward: optional(Flag('Mark as forwarded')),
  track_source: optional(Text(255, 'Origin, for tracking; comes back in events')),
  track_id: optional(LooseText(255, 'Id of your own, for tracking; comes back in events')),
  async: optional(Flag('Queue the message and answer at once')),
};

/** Makes the header of the client's idempotency key. A repeated request with the same key gets the first answer and has no effect. */
const keyHeaders = (thing: string, again: string) =>
  Type.Object({
    'idempotency-key': optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x20-\\x7e]+$',
        description: `Any text of your own, best a random UUID, for this one ${thing}. The same key again within a day gives the first answer and ${again}; with another request it is a 409.`,
      }),
    ),
  });

export const sendHeaders = keyHeaders('send', 'sends nothing');
export const campaignHeaders = keyHeaders('campaign', 'makes no second one');

/** The field that names the message of a send whose outcome is unknown. */
export const uncertainFields = {
  messageid: Type.String({ description: 'The message, to be looked up with POST /message/find' }),
};

/** Makes the answer of a send: the stored message, and the outcome. `further` has fields of `response` that only some sends have. */
export const SentAnswer = (further: Readonly<Record<string, TSchema>> = {}) =>
  Type.Intersect(
    [
      ref(Message),
      Type.Object({
        response: Type.Object({
          status: Type.String({ examples: ['success'] }),
          message: Type.String({ examples: ['Message sent successfully'] }),
          ...further,
        }),
        warning: optional(
          Type.String({
            description: 'Parts of the message that were left out, or that some apps do not show; the message was sent all the same',
          }),
        ),
      }),
    ],
    {
      description: 'The message as it is stored. The example is a text: the description of each send names its `messageType` and `content`',
    },
  );

// Shapes of status posts.

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
  { description: 'Source of the recipients; for a post in the queue only after it is sent' },
);

export const StatusAnswer = Type.Intersect([SentAnswer(), Type.Object({ Id: Type.String(), debug: optional(Debug) })]);
