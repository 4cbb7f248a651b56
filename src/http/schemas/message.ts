/** Shapes of messages: sends, the queue, queries. */
import { Type } from 'typebox';
import { receiptStates } from '#actors/gateway.ts';
import { Count, fields, Flag, FreeObject, like, LooseText, NumberText, OneOf, optional, ref, Text, TextOrNull } from './common.ts';

const Free = Type.Unsafe<unknown>({ description: 'object or text' });

const messageExample = {
  id: 'r1a2b3c4',
  messageid: '3EB0538DA65A59F6D8A251',
  chatid: '5511999999999@s.whatsapp.net',
  sender: '5511988887777@s.whatsapp.net',
  senderName: 'Shop',
  sender_pn: '5511988887777@s.whatsapp.net',
  sender_lid: '100000000000001@lid',
  isGroup: false,
  fromMe: true,
  messageType: 'ExtendedTextMessage',
  source: 'web',
  messageTimestamp: 1_770_146_178_000,
  status: 'Sent',
  text: 'Hello',
  quoted: '',
  edited: '',
  reaction: '',
  vote: '',
  convertOptions: '',
  buttonOrListid: '',
  owner: '5511988887777',
  error: '',
  content: { text: 'Hello' },
  wasSentByApi: true,
  sendFunction: '/send/text',
  sendPayload: { number: '5511999999999', text: 'Hello' },
  fileURL: '',
  pinned: false,
  starred: false,
  send_folder_id: '',
  track_source: 'crm',
  track_id: 'order 7',
  ai_metadata: {},
};

/** The texts of a message, with descriptions. */
const texts = {
  id: 'Short id; in events `<owner>:<messageid>`. Every call takes all forms',
  messageid: 'Id at the platform',
  chatid: 'The conversation: a number, a group or a channel with its suffix',
  sender: 'Who wrote it, as the platform names them',
  senderName: 'What they call themselves',
  messageType: 'Kind of the content, such as `Conversation`, `ImageMessage`, `ReactionMessage`, `call`',
  source: 'Kind of device that it was written on',
  status:
    'Of own messages: `Queued`, `Sent`, `Delivered`, `Read`, `Played`, or `Failed` (see `error`), `Canceled` (taken out of the queue), `Deleted`',
  text: 'Text or caption; of an edited message the new one',
  quoted: 'Id of the message that it answers',
  edited: 'Of an edit the id of the message that it changes; of a message that was edited the id of the last edit',
  reaction: 'Of a reaction the id of the message that it is for; `text` is the emoji',
  vote: 'What was chosen: options of a poll, the label of a button or a row, the answer to an event',
  convertOptions: 'What could be chosen, separated by bars',
  buttonOrListid: 'Id of the button or row that was tapped',
  owner: 'Number of the account',
  error: 'Why it failed',
  sendFunction: 'The call that sent it',
  fileURL: 'Address of the file, once the gateway keeps it',
  send_folder_id: 'Campaign that it belongs to',
  track_source: 'As given with the send',
  track_id: 'As given with the send',
} as const;

type Described<Names> = { [Name in keyof Names]: ReturnType<typeof Type.String> };

const described = <const Names extends Readonly<Record<string, string>>>(names: Names): Described<Names> =>
  Object.fromEntries(Object.entries(names).map(([name, description]) => [name, Type.String({ description })])) as Described<Names>;

/** The fields that only a channel post has. */
const postFields = {
  serverid: optional(Type.Integer({ description: 'Only of a post of a channel: its number there; 0 before the platform has taken it' })),
  viewsCount: optional(Type.Integer({ description: 'Only of a post of a channel: how often it was seen, as far as the platform told' })),
  reactionCounts: optional(
    Type.Unsafe<Readonly<Record<string, number>>>({
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Only of a post of a channel: its reactions, as counts by emoji',
    }),
  ),
};

export const Message = Type.Object(
  {
    ...described(texts),
    ...fields('sender_pn sender_lid', TextOrNull()),
    ...fields('isGroup fromMe wasSentByApi pinned starred', Type.Boolean()),
    messageTimestamp: Type.Integer({ description: 'Unix milliseconds' }),
    callPeer: optional(Type.Object(fields('jid name imagePreviewUrl', Type.String()), { description: 'only of a call' })),
    ...postFields,
    content: Free,
    sendPayload: Free,
    ai_metadata: FreeObject('Facts about a message that an agent wrote'),
  },
  { $id: 'Message', examples: [messageExample] },
);

/** The field that names a stored message. */
export const MessageId = like(LooseText(300, 'Short id, platform id, or `<owner>:<messageid>`', 1), '3EB0B4302B3A8A52F7A1');

export const QueueAnswer = Type.Object({
  response: Type.String(),
  instanceId: Type.String(),
  queue: Type.Object({
    status: OneOf(['idle', 'processing', 'waiting_connection', 'resetting']),
    pending: Type.Integer(),
    ...fields('processingNow acceptingNewMessages sessionReady resetting', Type.Boolean()),
    nextAt: optional(Type.Integer({ description: 'Unix milliseconds of the next send, while it waits for the pace (`msg_delay_min`)' })),
  }),
});

export const ClearedStats = Type.Object(
  fields('trackedJobsCleared bufferedJobsMarkedCanceled drainedChannelJobs clearedOverflowJobs persistedQueuedCanceled', Type.Integer()),
);

export const ClearedAnswer = Type.Object({ response: Type.String(), instanceId: Type.String(), stats: ClearedStats });

export const messagePage = { usual: 100, most: 1000 };

export const FindMessagesBody = Type.Object({
  id: optional(LooseText(300, 'Short id, platform id, or `<owner>:<messageid>`')),
  chatid: optional(LooseText(128, 'Id of the chat, or a number')),
  track_source: optional(Text(255, 'Origin given with the send')),
  track_id: optional(LooseText(255, 'Tracking id given with the send')),
  messageType: optional(Text(100, 'Such as `ImageMessage`; `call` finds the calls')),
  fromMe: optional(Flag('Only own messages, or only those of others')),
  limit: optional(Count(-1, 1_000_000, `At most ${messagePage.most}; ${messagePage.usual} when not positive`)),
  offset: optional(Count(0, 100_000_000, 'Messages to leave out, newest first')),
});

export const MessagesAnswer = Type.Object({
  ...fields('returnedMessages limit offset nextOffset', Type.Integer()),
  messages: Type.Array(ref(Message)),
  hasMore: Type.Boolean(),
});

export const PinBody = Type.Object({
  id: MessageId,
  pin: optional(Flag('false takes the pin away; true when left out')),
  duration: optional(Type.Unsafe<1 | 7 | 30>({ type: 'integer', enum: [1, 7, 30], description: 'Days; 30 when left out' })),
});

/** The answer to a pin: the message by which it was sent, and the id of the pinned message. */
export const PinAnswer = Type.Intersect([
  ref(Message),
  Type.Object({ targetMessageID: Type.String({ description: 'The message that is pinned' }) }),
]);

export const StarBody = Type.Object({ id: MessageId, star: Flag('false takes the star away') });

export const MarkReadBody = Type.Object({
  id: Type.Array(MessageId, { minItems: 1, maxItems: 1000, description: 'Messages of any chats, at most 1000' }),
});

export const MarkReadAnswer = Type.Object({
  results: Type.Array(Type.Object({ message_id: Type.String(), status: OneOf(['success', 'error']), error: optional(Type.String()) })),
});

/** The field that names a chat. */
const ChatNumber = NumberText('Number, or id of the chat');

export const TypingBody = Type.Object({
  number: ChatNumber,
  presence: OneOf(['composing', 'recording', 'paused'], { description: 'State that the chat shows: typing, recording, or neither' }),
  delay: optional(Count(0, 300_000, 'Milliseconds for which it is kept up; without it the platform forgets it after some seconds')),
});

export const receiptPage = { usual: 100, most: 500 };

export const ReceiptsBody = Type.Object({
  id: MessageId,
  state: optional(OneOf(receiptStates, { description: 'Only members who came at least this far' })),
  limit: optional(Count(-1, 1_000_000, `At most ${receiptPage.most}; ${receiptPage.usual} when not positive`)),
  offset: optional(Count(0, 100_000_000, 'Members to leave out')),
});

const Moment = Type.Integer({ description: 'Unix milliseconds; 0 when it was not confirmed' });

export const ReceiptsAnswer = Type.Object({
  ...fields('id messageid chatid', Type.String()),
  receipts: Type.Array(
    Type.Object({
      jid: Type.String(),
      ...fields('sender_pn sender_lid', TextOrNull()),
      state: OneOf(receiptStates),
      ...fields('deliveredAt readAt playedAt', Moment),
    }),
  ),
  counts: Type.Object(fields('delivered read played', Type.Integer()), {
    description:
      'Members whose receipts were older than RECEIPTS_KEEP_DAYS and are not listed any more; who read it is counted as delivered too',
  }),
  pagination: Type.Object({ ...fields('limit offset nextOffset', Type.Integer()), hasMore: Type.Boolean() }),
});

// Shapes of requests for older messages.

/**
 * The default and the largest number of messages in one request, and the time for which a caller waits, in milliseconds. Phones send at most 50 messages for
 * one request.
 */
export const historyPage = { usual: 50, most: 50, wait: 25_000 };

export const HistoryBody = Type.Object({
  number: ChatNumber,
  mode: optional(OneOf(['history', 'exact'], { description: '`exact`: only before a message that is stored' })),
  messageid: optional(LooseText(300, 'The message before which the phone looks; the oldest stored one when left out')),
  count: optional(Count(1, 100, `At most ${historyPage.most} come, however many are asked for`)),
  timestamp: optional(Count(0, 1e15, 'Time of a message that is not stored, in seconds or milliseconds')),
  fromMe: optional(Flag('True if the account sent that message')),
  requestId: optional(Text(100, 'A name for the request; one that was used is refused')),
  fallbackMode: optional(
    OneOf(['try_alternates', 'exact'], {
      description: 'Ask the phone also under the other address of the chat, or only under this address',
    }),
  ),
  sync: optional(Flag('Wait for the answer of the phone')),
  timeoutMs: optional(Count(0, historyPage.wait, 'Milliseconds to wait for it')),
});

const state = OneOf(['pending', 'answered', 'unanswered']);

export const HistoryAnswer = Type.Object({
  success: Type.Boolean(),
  ...fields('mode message request_id', Type.String()),
  details: Type.Object({ chatid: Type.String(), state, messages: Type.Integer(), more: Type.Boolean() }),
  next_request: Type.Object({ ...fields('number mode', Type.String()), count: Type.Integer() }),
});

export const HistoryStatus = Type.Object({
  initial: Type.Object({
    messages: Type.Integer(),
    progress: Type.Unsafe<number | null>({ type: ['number', 'null'], description: 'Percent' }),
  }),
  requests: Type.Array(
    Type.Object({
      ...fields('request_id chatid', Type.String()),
      state,
      messages: Type.Integer(),
      more: Type.Boolean(),
      created: Type.Integer({ description: 'Unix milliseconds' }),
    }),
  ),
});
