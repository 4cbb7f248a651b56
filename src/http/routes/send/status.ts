/** Status posts: texts and media that vanish after a day, for all contacts of the account or for chosen contacts. */
import { type Static, Type } from 'typebox';
import {
  type Audience,
  type AudienceWish,
  contentWarning,
  done,
  type MediaKind,
  type Message,
  refuse,
  type Result,
  type Send,
  type SendContent,
} from '#actors/gateway.ts';
import { messageView } from '#src/contract/views.ts';
import { mapResult, type Route, route } from '../../route.ts';
import { Count, OneOf, optional, Text } from '../../schemas/common.ts';
import { sendHeaders, sendOptions, StatusAnswer } from '../../schemas/send.ts';
import { queued, sendRefusals, sendThrough, storedText, warningOf } from './row.ts';
import { bodyLimitOf, isAddress } from './media.ts';

/** Red, green and blue of the colours 1 to 19. The hues follow the names of the interface: yellow, green, blue, lilac, magenta, pink, brown, grey. */
const colours = [
  0xf0b330, 0xc1a03f, 0xb6b327, 0x54c265, 0x90a841, 0x7acba5, 0x5696ff, 0x26c4dc, 0x57c9ff, 0xc69fcc, 0x8b6990, 0x6e257e, 0xa62c71,
  0xff8a8c, 0xff7b6b, 0xae8774, 0x7e90a3, 0x74676a, 0x243640,
] as const;

const usualColour = 19;
const fonts = [0, 1, 2, 6, 7, 8, 9, 10] as const;
/** The length at which phones cut a video in a status post, in seconds. */
const shownSeconds = 30;

const media = ['image', 'video', 'audio', 'myaudio', 'ptt'] as const satisfies readonly MediaKind[];

const Body = Type.Object({
  type: OneOf(['text', ...media], { description: 'Kind of the post', examples: ['text'] }),
  text: optional(
    Type.String({
      maxLength: 65_536,
      description: 'The text, or the caption of a picture or video; with placeholders',
      examples: ['Open today'],
    }),
  ),
  background_color: optional(Count(1, colours.length, `Colour behind a text, 1 to ${colours.length}; ${usualColour} when left out`)),
  font: optional(
    Type.Unsafe<(typeof fonts)[number]>({ type: 'integer', enum: [...fonts], description: 'Font of a text; 0 when left out' }),
  ),
  file: optional(Type.String({ description: `URL or base64. Of a video phones show ${shownSeconds} seconds` })),
  thumbnail: optional(Type.String({ maxLength: 2_000_000, description: 'Small picture of the file: URL or base64' })),
  mimetype: optional(Text(255, 'Media type of the file')),
  recipients: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 20_000,
      description: "Who sees it: numbers or ids; those of the account's privacy setting when left out or empty",
    }),
  ),
  max_recipients: optional(Count(0, 1_000_000, 'Recipients at most; 0 for as many as the server allows (500)')),
  track_source: sendOptions.track_source,
  track_id: sendOptions.track_id,
  async: sendOptions.async,
});

type Body = Static<typeof Body>;

const contentOf = ({
  type,
  text = '',
  background_color = usualColour,
  font = 0,
  file = '',
  thumbnail = '',
  mimetype = '',
}: Body): Result<SendContent> => {
  if (type === 'text') {
    if (text === '') return refuse('invalid', 'text is required');
    return done({ kind: 'text', text, preview: null, style: { background: colours[background_color - 1] ?? 0, font } });
  }
  if (file === '') return refuse('invalid', 'file is required');
  const given = { source: file, as: type, thumbnail, mimetype, filename: '' };
  return done({ kind: 'media', as: type, file: given, caption: text, viewOnce: false });
};

const wishOf = ({ recipients = [], max_recipients = 0 }: Body): AudienceWish => ({
  recipients: recipients.length === 0 ? null : recipients,
  most: max_recipients,
  contacts: [],
});

const sendOf = (body: Body, content: SendContent): Send => ({
  number: 'status@broadcast',
  content,
  replyTo: '',
  mentions: [],
  forward: false,
  audience: wishOf(body),
});

const debugOf = ({ setting, recipients, report }: Audience) => ({
  status_privacy_type: setting,
  audience_recipient_count: report.resolved,
  total_contacts_in_store: report.contacts.named + report.contacts.pushName + report.contacts.number,
  contacts_with_full_name: report.contacts.named,
  contacts_with_push_name_only: report.contacts.pushName,
  contacts_with_business_name_only: 0,
  used_default_privacy_fallback: report.usualPrivacy,
  privacy_lookup_error: '',
  explicit_recipients: report.explicit,
  requested_recipient_count: report.requested,
  resolved_recipient_count: report.resolved,
  discarded_recipient_count: report.discarded,
  discarded_recipients: report.examples,
  max_recipients: report.most,
  selected_recipient_count: recipients.length,
  partial_send: recipients.length < report.resolved,
});

const answerOf = (message: Message, owner: string, text: string) => ({
  ...messageView(message, owner),
  Id: message.messageId,
  response: { status: 'success', message: text },
  ...(message.audience ? { debug: debugOf(message.audience) } : {}),
});

/** Returns the fields that `sendPayload` leaves out, because they contain files as base64. */
const unstored = (body: Body): readonly string[] =>
  (['file', 'thumbnail'] as const).filter((name) => body[name] !== undefined && !isAddress(body[name]));

const label = '/send/status';
const sent = 'Status sent successfully';

/** Makes the rows. `fileBytes` is the size of the largest file, in bytes. */
export const statusRows = (fileBytes: number): readonly Route[] => [
  route({
    on: ['POST /send/status'],
    operationId: 'sendStatus',
    credential: 'instance',
    tag: 'send',
    summary: 'Post a status. Whether somebody is shown it is not guaranteed: their phones must know the account as a contact',
    requestHeaders: sendHeaders,
    bodyLimit: bodyLimitOf(fileBytes),
    body: Body,
    answer: StatusAnswer,
    answerText: storedText(label),
    invalidTexts: { 'font:enum': 'Invalid font', 'font:type': 'Invalid font' },
    refusals: {
      ...sendRefusals,
      tooLarge: {},
      notConvertible: {},
      refused: { example: 'failed to determine status audience: privacy unavailable' },
    },
    run: async (call) => {
      const content = contentOf(call.body);
      if (!content.ok) return content;
      const sending = {
        label,
        body: call.body,
        known: Object.keys(Body.properties),
        left: unstored(call.body),
        send: sendOf(call.body, content.value),
      };
      const text = call.body.async === true ? queued : sent;
      return mapResult(await sendThrough(call, sending), ({ sent, owner }) => ({
        ...answerOf(sent, owner, text),
        ...warningOf(contentWarning(content.value)),
      }));
    },
  }),
];
