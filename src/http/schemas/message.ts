/** Shapes of messages: sends, the queue, queries. */
import { Type } from 'typebox';
import { Count, fields, Flag, FreeObject, LooseText, OneOf, optional, ref, Text, TextOrNull } from './common.ts';

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
  messageType: 'Conversation',
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
  content: 'Hello',
  wasSentByApi: true,
  sendFunction: '/send/text',
  sendPayload: { number: '5511999999999', text: 'Hello' },
  fileURL: '',
  send_folder_id: '',
  track_source: 'crm',
  track_id: 'order 7',
  ai_metadata: {},
};

export const Message = Type.Object(
  {
    ...fields(
      `id messageid chatid sender senderName messageType source status text quoted edited reaction vote convertOptions buttonOrListid owner
       error sendFunction fileURL send_folder_id track_source track_id`,
      Type.String(),
    ),
    ...fields('sender_pn sender_lid', TextOrNull()),
    ...fields('isGroup fromMe wasSentByApi', Type.Boolean()),
    messageTimestamp: Type.Integer({ description: 'Unix milliseconds' }),
    callPeer: optional(Type.Object(fields('jid name imagePreviewUrl', Type.String()), { description: 'only of a call' })),
    content: Free,
    sendPayload: Free,
    ai_metadata: FreeObject('Of messages that an agent wrote'),
  },
  { $id: 'Message', examples: [messageExample] },
);

/** Whom a message goes to. */
const Recipient = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  minLength: 1,
  maxLength: 128,
  description: 'Digits with country code, or an id with its suffix',
  examples: ['5511999999999'],
});

/** Names a stored message. */
export const MessageId = LooseText(300, 'Short id, platform id, or `<owner>:<messageid>`', 1);

/** Common to all sends. */
const sendOptions = {
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

export const SendTextBody = Type.Object({
  number: Recipient,
  text: Type.String({ minLength: 1, maxLength: 65_536, description: 'Text, with placeholders such as {{name}}', examples: ['Hello'] }),
  linkPreview: optional(Flag('Show a preview of the first link')),
  linkPreviewTitle: optional(Text(1000, 'Title of the preview instead of the fetched one')),
  linkPreviewDescription: optional(Text(4000, 'Description of the preview')),
  linkPreviewImage: optional(Text(2_000_000, 'Picture of the preview: URL or base64')),
  linkPreviewLarge: optional(Flag('Show the preview large')),
  ...sendOptions,
});

export const SentAnswer = Type.Intersect([
  ref(Message),
  Type.Object({
    response: Type.Object({
      status: Type.String({ examples: ['success'] }),
      message: Type.String({ examples: ['Message sent successfully'] }),
    }),
  }),
]);

export const QueueAnswer = Type.Object({
  response: Type.String(),
  instanceId: Type.String(),
  queue: Type.Object({
    status: OneOf(['idle', 'processing', 'waiting_connection', 'resetting']),
    pending: Type.Integer(),
    ...fields('processingNow acceptingNewMessages sessionReady resetting', Type.Boolean()),
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
  limit: optional(Count(-1, 1_000_000, `At most ${messagePage.most}; ${messagePage.usual} when not positive`)),
  offset: optional(Count(0, 100_000_000, 'Messages to leave out, newest first')),
});

export const MessagesAnswer = Type.Object({
  ...fields('returnedMessages limit offset nextOffset', Type.Integer()),
  messages: Type.Array(ref(Message)),
  hasMore: Type.Boolean(),
});
