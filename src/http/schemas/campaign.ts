/** Shapes of campaigns, which the interface calls folders. */
import { type TSchema, Type } from 'typebox';
import { folderFields } from '#src/contract/views.ts';
import { Count, fields, Flag, LooseText, OneOf, optional, ref, Text } from './common.ts';
import { Message } from './message.ts';

/** Kinds of messages that a campaign may have, in the interface's order. Both kinds of campaigns accept all of them. */
export const campaignTypes = [
  'text',
  'image',
  'video',
  'videoplay',
  'audio',
  'document',
  'contact',
  'location',
  'list',
  'button',
  'poll',
  'carousel',
  'ptt',
  'myaudio',
  'sticker',
  'button_legacy',
  'event',
  'location-button',
  'pix-button',
  'request-payment',
  'group-invite',
] as const;

export type CampaignType = (typeof campaignTypes)[number];

/** The pause between two messages if the request has none. In seconds. */
export const usualDelay = { min: 10, max: 30 };

const mostSeconds = 86_400;
const delay = (least: number) => ({
  delayMin: Count(least, mostSeconds, 'Seconds between two messages, at least'),
  delayMax: Count(least, mostSeconds, 'Seconds between two messages, at most'),
});

const scheduledFor = Count(
  0,
  Number.MAX_SAFE_INTEGER,
  'When the first message goes out: Unix milliseconds, minutes from now, or an ISO time; 0 is at once',
);
const info = optional(Text(2_000, 'A name or remark of your own'));
const type = OneOf(campaignTypes, { description: 'Kind of message; the other fields are those of the send of this kind' });

/** A recipient. An invalid or empty entry becomes a failed recipient. One gap in a list of thousands therefore does not refuse the whole list. */
const Entry = LooseText(128, 'Digits with country code, or an id with its suffix; what is neither is `Failed` from the beginning');

/** Makes the shape of the body of a simple campaign. `content` has the fields of the sends. */
export const SimpleBody = (content: Readonly<Record<string, TSchema>>) =>
  Type.Object({
    ...content,
    numbers: Type.Array(Entry, {
      minItems: 1,
      description: 'Numbers, or ids of groups; also as one text with commas. Everybody gets the message once',
    }),
    type,
    folder: optional(Text(2_000, 'Name of the campaign')),
    ...delay(1),
    scheduled_for: scheduledFor,
    info,
  });

export const AdvancedBody = (content: Readonly<Record<string, TSchema>>) =>
  Type.Object({
    delayMin: optional(Count(0, mostSeconds, `Seconds between two messages, at least; ${usualDelay.min} when left out`)),
    delayMax: optional(Count(0, mostSeconds, `Seconds between two messages, at most; ${usualDelay.max} when left out`)),
    info,
    scheduled_for: optional(scheduledFor),
    messages: Type.Array(Type.Object({ ...content, number: Entry, type }), {
      minItems: 1,
      description: 'Messages in the order in which they go out, each with the fields of the send of its kind',
    }),
  });

export const CreatedAnswer = Type.Object({
  folder_id: Type.String({ examples: ['r1a2b3c4d5e6f70'] }),
  count: Type.Integer({ description: 'Messages of the campaign, without duplicates' }),
  status: Type.String({ examples: ['queued'] }),
  duplicates: Type.Integer({ description: 'Repetitions that were left out: the same recipient, with the same message, came earlier' }),
  failed: Type.Integer({ description: 'Messages among them whose number is none; each says why' }),
  remaining_seconds: optional(Type.Integer({ description: 'An estimate of the time until the last message leaves' })),
});

export const FolderId = Text(100, 'The campaign');

export const EditFolderBody = Type.Object({
  folder_id: FolderId,
  action: OneOf(['stop', 'continue', 'delete'], { description: '`delete` takes the campaign away; what was sent stays in its chats' }),
});

export const EditFolderAnswer = Type.Object({
  status: OneOf(['paused', 'scheduled', 'deleting']),
  message: optional(Type.String()),
});

export const ClearDoneBody = Type.Object({
  hours: optional(Count(0, 876_000, 'Hours since the campaign ended; 168 when left out')),
});

export const ClearDoneAnswer = Type.Object({ status: Type.String({ examples: ['cleanup started'] }) });

export const ClearAllAnswer = Type.Object({
  status: Type.String({ examples: ['processed'] }),
  ...fields('messages_deleted folders_deleted', Type.Integer()),
});

export const FoldersQuery = Type.Object({
  status: optional(OneOf(['Active', 'Archived'], { description: '`Archived` are those that are done; all when left out' })),
});

export const Folder = Type.Object(folderFields, {
  $id: 'MessageQueueFolder',
  examples: [
    {
      id: 'r1a2b3c4d5e6f70',
      info: 'January',
      status: 'sending',
      reason: '',
      remaining_seconds: 7_520,
      scheduled_for: 1_770_146_178_000,
      delayMin: 10,
      delayMax: 30,
      log_total: 500,
      log_sucess: 120,
      log_failed: 3,
      log_skipped: 1,
      log_unknown: 0,
      log_delivered: 110,
      log_read: 64,
      log_played: 0,
      owner: '5511988887777',
      created: '2026-08-19 17:36:34.345Z',
      updated: '2026-08-19 18:36:34.345Z',
      started: '2026-08-19 17:36:35.000Z',
      finished: '',
    },
  ],
});

export const FoldersAnswer = Type.Array(ref(Folder));

export const recipientPage = { most: 1_000 };

export const ListRecipientsBody = Type.Object({
  folder_id: FolderId,
  messageStatus: optional(
    OneOf(['Scheduled', 'Sent', 'Failed', 'Skipped', 'Unknown'], {
      description: '`Failed` are all that were not sent; `Skipped` and `Unknown` are among them',
    }),
  ),
  limit: optional(Count(1, recipientPage.most, `At most ${recipientPage.most}, which is the default`)),
  offset: optional(Count(0, 100_000_000, 'Messages to leave out')),
});

export const RecipientsAnswer = Type.Object({
  messages: Type.Array(ref(Message), {
    description:
      '`status` is `Scheduled` before its turn, `Skipped` for a contact who wants none, `Unknown` where nobody knows; else as of every message',
  }),
  pagination: Type.Object(fields('totalRecords limit offset', Type.Integer())),
});

const Times = Type.Union([Type.Integer(), Type.Null()], { description: 'Unix milliseconds' });

export const CampaignStatsAnswer = Type.Object({
  folders: Type.Object(fields('total scheduled queued sending paused done', Type.Integer())),
  messages: Type.Object(fields('total scheduled sent failed skipped unknown delivered read played', Type.Integer())),
  pace: Type.Object({
    sentLast24h: Type.Integer({ description: 'Messages of campaigns' }),
    dailyCap: Type.Integer({ description: 'The most of them within 24 hours; 0 is no limit' }),
    quietUntil: Times,
    nextAt: Times,
  }),
});

export const OptOutBody = Type.Object({
  numbers: Type.Array(LooseText(128, 'A number, or the id of a contact', 1), {
    minItems: 1,
    maxItems: 10_000,
    description: 'Contacts, at most 10,000; also as one text with commas',
  }),
  optedOut: optional(Flag('false takes the contacts off the list; true when left out')),
});

export const OptOutsQuery = Type.Object({
  limit: optional(Count(1, 1_000, 'At most 1000; 100 when left out')),
  offset: optional(Count(0, 100_000_000, 'Contacts to leave out')),
});

export const OptOutsAnswer = Type.Object({
  contacts: Type.Array(
    Type.Object({
      chatid: Type.String(),
      by: OneOf(['api', 'contact'], { description: 'Origin of the entry: a call, or a word such as STOP from the contact' }),
      created: Type.String(),
    }),
  ),
  pagination: Type.Object(fields('totalRecords limit offset', Type.Integer())),
});

export const OptOutAnswer = Type.Object({ changed: Type.Integer({ description: 'Contacts that were not so before' }) });
