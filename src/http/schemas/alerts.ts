/** Shapes of alerts. */
import { Type } from 'typebox';
import { alertChannels, alertKinds, alertSecretNames, mailSecurities } from '#actors/gateway.ts';
import { Count, OneOf, optional, Text } from './common.ts';

const Minute = (description: string) => Count(0, 1_439, `${description}, in minutes since midnight`);

/** The pattern of one mail address. Characters that separate addresses or end a line are excluded, because they would add recipients. */
const mailbox = '[^\\s@,;<>"()]+@[^\\s@,;<>"()]+';
const sender = `^(|${mailbox}|[^<>\\r\\n,;]* <${mailbox}>)$`;

const Channel = OneOf(alertChannels, { description: 'A way to the operator' });

const Settings = {
  kinds: Type.Array(OneOf(alertKinds), { uniqueItems: true, maxItems: alertKinds.length, description: 'The troubles that are told' }),
  channels: Type.Array(Channel, { uniqueItems: true, maxItems: alertChannels.length, description: 'The channels that are switched on' }),
  email: Type.Object(
    {
      host: Text(253, 'The mail server'),
      port: Count(1, 65_535, 'Its port'),
      security: OneOf(mailSecurities, { description: 'tls: from the first byte; startTls: before the login; none: without encryption' }),
      user: Text(320, 'The user; empty without a login'),
      from: Type.String({ maxLength: 320, pattern: sender, description: 'The address of the sender, alone or as `Name <address>`' }),
      to: Type.Array(Type.String({ maxLength: 320, pattern: `^${mailbox}$`, examples: ['ana@example.com'] }), {
        maxItems: 20,
        description: 'The addresses of the recipients',
      }),
    },
    { description: 'The mail server, and the addresses of a mail' },
  ),
  telegram: Type.Object(
    {
      url: Text(2_000, 'The address of the Bot API server'),
      chatId: Text(100, 'The chat, such as `-1001234567890` or `@channel`'),
    },
    { description: 'The chat of a bot' },
  ),
  quiet: Type.Unsafe<{ readonly from: number; readonly to: number } | null>({
    anyOf: [Type.Object({ from: Minute('The beginning'), to: Minute('The end') }), { type: 'null' }],
    description: 'The hours in which nothing is sent; null for none',
  }),
  timeZone: Text(100, 'The time zone of the quiet hours; empty for that of the server'),
  repeatHours: Count(0, 720, 'The hours after which a trouble that goes on is told again; 0 for never'),
  receiverMinutes: Count(1, 1_440, 'The minutes for which a circuit has to be open before its receiver is told'),
};

export const AlertsBody = Type.Object({
  ...Settings,
  // A null in a body counts as absent.
  quiet: optional(Settings.quiet),
  secrets: optional(
    Type.Object(
      {
        emailPassword: optional(Text(2_000, 'The password of the mail server')),
        telegramToken: optional(Text(2_000, 'The token of the bot')),
        slackUrl: optional(Text(2_000, 'The address of the incoming webhook of Slack')),
        webhookUrl: optional(Text(2_000, 'The address of the webhook')),
        webhookSecret: optional(Text(2_000, '`whsec_` and a key in base64, which signs the posts')),
      },
      { description: 'A secret that is left out stays, and an empty one is removed. No answer shows secrets' },
    ),
  ),
});

const Moment = Type.Number({ description: 'In Unix milliseconds' });

export const AlertsAnswer = Type.Object({
  settings: Type.Object(Settings),
  secrets: Type.Array(OneOf(alertSecretNames), { description: 'The secrets that are set' }),
  troubles: Type.Array(
    Type.Object({
      kind: OneOf(alertKinds),
      key: Type.String({ description: 'The id of the session or the webhook, or the name of the node' }),
      name: Type.String(),
      reason: Type.String(),
      since: Moment,
      toldAt: Type.Unsafe<number | null>({ type: ['number', 'null'], description: 'The last message about it; null before the first' }),
    }),
    { description: 'The troubles of now, at most 100' },
  ),
  total: Type.Integer({ description: 'The number of all troubles of now' }),
  outcomes: Type.Array(
    Type.Object({
      channel: Channel,
      at: Moment,
      error: Type.String({ description: 'The error of the last attempt; empty if it reached everybody' }),
      waiting: Type.Integer({ description: 'Messages that wait for their next attempt' }),
    }),
  ),
});

export const AlertTestBody = Type.Object({ channel: Channel });

export const AlertTestAnswer = Type.Object({
  sent: Type.Boolean(),
  error: Type.String({ description: 'The reason if it was not sent, or not to all recipients' }),
});
