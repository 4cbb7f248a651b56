/** The `webhooks` section of the OpenAPI document. Each event has its shape and a complete example in the form that receivers get. */
import type { TSchema } from 'typebox';
import { Chat } from './schemas/chat.ts';
import { eventShapes } from './schemas/events.ts';
import { Instance } from './schemas/instance.ts';
import { Message } from './schemas/message.ts';

type Fields = Readonly<Record<string, unknown>>;
type Name = keyof typeof eventShapes;

const exampleIn = (schema: TSchema): Fields => (schema as unknown as { readonly examples: readonly Fields[] }).examples[0] ?? {};

const [owner, contact, lid] = ['5511988887777', '5511999999999@s.whatsapp.net', '100000000000001@lid'];
const [group, channel] = ['120363153742561022@g.us', '120363144038483540@newsletter'];
const [id, at, iso] = ['3EB0538DA65A59F6D8A251', 1_770_146_178_000, '2026-02-03T19:16:18.000Z'];
const person = { sender_pn: contact, sender_lid: lid };

const chat = { ...exampleIn(Chat), wa_name: 'Ana', wa_chatlid: lid };
const { sendPayload: _sent, ...message } = exampleIn(Message);
const received = {
  ...message,
  id: `${owner}:${id}`,
  messageid: id,
  chatid: contact,
  sender: lid,
  senderName: 'Ana',
  ...person,
  fromMe: false,
  source: 'android',
  messageType: 'Conversation',
  status: '',
  text: 'Is the blue one in stock?',
  content: 'Is the blue one in stock?',
  wasSentByApi: false,
  sendFunction: '',
  sendPayload: '',
  track_source: '',
  track_id: '',
  chatlid: lid,
  groupName: 'Unknown',
  type: 'text',
  mediaType: '',
};
const post = {
  ...received,
  chatid: channel,
  sender: channel,
  senderName: '',
  sender_pn: null,
  sender_lid: null,
  text: 'We open at nine today',
  content: 'We open at nine today',
  chatlid: '',
  serverid: 117,
  viewsCount: 0,
  reactionCounts: {},
};

const unchanged = Object.fromEntries(
  `Topic Locked Announce Ephemeral MembershipApprovalMode Delete Link Unlink NewInviteLink PrevParticipantVersionID ParticipantVersionID JoinReason
   Suspended Unsuspended UnknownChanges Join Leave Promote Demote JoinLid LeaveLid`
    .split(/\s+/)
    .map((name) => [name, null]),
);
const groupAct = { JID: group, Notify: 'Ana', Sender: contact, SenderPN: contact, Timestamp: iso };
const renamed = { Name: 'Team', NameSetAt: iso, NameSetBy: lid, NameSetByPN: contact };
const presence = { State: 'composing', Media: '', IsFromMe: false, IsGroup: false, Chat: contact, chatid: contact, Sender: contact };
const call = { chatid: contact, id: 'A1B2C3D4E5F60718293A', from: lid, ...person, status: 'offer', isVideo: false, isGroup: false };
const campaign = { messageCount: 120, sentCount: 118, failedCount: 2, skippedCount: 1, unknownCount: 0, scheduled_for: at };

/** Events by type. Each event has a description, and the fields of its example in addition to those of every event. */
const eventDocs: Readonly<Record<Name, readonly [summary: string, example: Fields]>> = {
  messages: ['A message arrives in a chat, or the account sends one', { chatSource: 'updated', chat, message: received }],
  messages_update: [
    'Messages are delivered, read, played, deleted or starred, or could not be sent',
    {
      type: 'ReadReceipt',
      state: 'Read',
      event: {
        MessageIDs: [id],
        Chat: contact,
        chatid: contact,
        Sender: contact,
        ...person,
        IsFromMe: false,
        IsGroup: false,
        Timestamp: iso,
        Type: 'Read',
      },
    },
  ],
  connection: ['The session connects, or its connection ends', { instance: { name: 'shop', status: 'connected' } }],
  presence: ['A contact types, records, comes online or goes offline', { event: { ...presence, ...person } }],
  chats: ['A chat is archived, pinned, muted, read or changed in another way', { chat: { ...chat, wa_archived: true } }],
  contacts: [
    'The address book of the phone changes',
    { contact: { jid: contact, lid, phone: '+55 11 99999-9999', contact_name: 'Ana Silva', wa_name: 'Ana' } },
  ],
  labels: [
    'A label is made, changed or deleted on the phone',
    { type: 'LabelEdit', event: { LabelID: '8', Action: { name: 'New customer', color: 3, deleted: false } } },
  ],
  chat_labels: ['The labels of a chat change', { chat: { wa_chatid: contact, phone: '+55 11 99999-9999', wa_label: [`${owner}:8`] } }],
  groups: ['A group changes, or the account joins one', { type: 'Group', event: { ...groupAct, ...person, Name: renamed, ...unchanged } }],
  call: ['A call arrives or ends', { call: { ...call, offline: false, timestamp: at } }],
  history: ['The phone sends a part of its message history', { event: 'messages', batchNumber: 1, batchTotal: 4, messages: [received] }],
  sender: [
    'A campaign begins, pauses, continues or ends',
    { folder_id: 'r1a2b3c4d5e6f70', info: 'May offers', status: 'done', ...campaign },
  ],
  newsletter_messages: [
    'A channel publishes a post. Only webhooks that name this event get it',
    { chatSource: 'updated', chat: { ...chat, wa_chatid: channel, name: 'Daily' }, message: post },
  ],
  test: [
    'The event of `POST /webhook/test`. A test of another event type has these fields too, and no fields of that type',
    { test: true },
  ],
};

const exampleOf = (type: Name): Fields => ({
  BaseUrl: 'https://gateway.example.com',
  EventType: type,
  owner,
  token: String(exampleIn(Instance)['token']),
  instanceName: 'shop',
  ...eventDocs[type][1],
});

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: name !== 'webhook-signature',
  description,
  schema: { type: 'string' },
});
const headers = [
  header('webhook-id', 'The id of the event, the same for every attempt. Use it to drop duplicates'),
  header('webhook-timestamp', 'Unix seconds of the attempt'),
  header('webhook-signature', '`v1,` and the signature, as in Standard Webhooks. Present if the webhook has a secret'),
];

const operationId = (type: string): string =>
  `on${type
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')}`;

/** Returns the events as OpenAPI describes requests to a receiver. The shapes of the events are among the shared shapes. */
export const webhooksSection = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    (Object.keys(eventDocs) as Name[]).map((type) => {
      const schema = { $ref: `#/components/schemas/${(eventShapes[type] as unknown as { readonly $id: string }).$id}` };
      const delivery = {
        operationId: operationId(type),
        tags: ['webhook'],
        summary: eventDocs[type][0],
        security: [],
        parameters: headers,
        requestBody: { required: true, content: { 'application/json': { schema, example: exampleOf(type) } } },
        responses: {
          200: { description: 'The event is delivered, as after any other 2xx. The gateway sends it again after any other status' },
        },
      };
      return [type, { post: delivery }];
    }),
  );
