/** Shapes of the events that webhooks deliver (src/contract makes the bodies). */
import { type TProperties, type TSchema, Type } from 'typebox';
import { type eventTypes, statuses } from '#actors/gateway.ts';
import { labelColors } from '#src/contract/views.ts';
import { Chat } from './chat.ts';
import { fields, OneOf, optional, ref, TextOrNull } from './common.ts';
import { Group } from './group.ts';
import { Message } from './message.ts';
import { PasskeyNotice } from './instance.ts';

type EventType = (typeof eventTypes)[number];

const say = (description: string) => Type.String({ description });
const isoTime = (description: string) => Type.String({ description: `${description}, ISO 8601` });
const milliseconds = (description: string) => Type.Integer({ description: `${description}, Unix milliseconds` });
const isGroup = Type.Boolean({ description: 'True if the chat is a group' });

export const EventEnvelope = Type.Object(
  {
    BaseUrl: say('The address of the gateway (`BASE_URL`)'),
    owner: say('The number of the account; empty before the first pairing'),
    token: say('The token of the instance'),
    instanceName: say('The name of the instance'),
  },
  { $id: 'EventEnvelope', description: 'The fields that every event has besides `EventType`' },
);

const event = (name: string, type: EventType | 'test', properties: TProperties): TSchema => ({
  ...Type.Intersect([ref(EventEnvelope), Type.Object({ EventType: Type.Literal(type), ...properties })]),
  $id: name,
});

/** The ids of a person in an event. */
const sender = {
  sender_pn: say('The number of the person with its suffix; empty if it is not known'),
  sender_lid: say('The LID of the person; empty if it is not known'),
};

export const EventMessage = {
  ...Type.Intersect([
    ref(Message),
    Type.Object({
      chatlid: say('The LID of the chat; empty if it has none'),
      groupName: say('The name of the group; `Unknown` in other chats'),
      type: say('`text`, `media` or another group of kinds'),
      mediaType: say('The kind of file, such as `image` or `ptt`; empty without a file'),
      sender_image_preview_url: optional(say('The picture of the author, if the gateway knows it')),
    }),
  ]),
  $id: 'EventMessage',
};

const written = {
  chatSource: say('Always `updated`'),
  chat: ref(Chat),
  message: ref(EventMessage),
};
const MessagesEvent = event('MessagesEvent', 'messages', written);
const NewsletterMessagesEvent = event('NewsletterMessagesEvent', 'newsletter_messages', written);

const updateStates = [
  'Queued',
  'Sent',
  'Delivered',
  'Read',
  'Played',
  'Failed',
  'Canceled',
  'Deleted',
  'FileDownloaded',
  'Starred',
  'Unstarred',
] as const;

const MessagesUpdateEvent = event('MessagesUpdateEvent', 'messages_update', {
  type: OneOf(['ReadReceipt', 'GroupReceipts', 'MessageStatus', 'DeletedMessage', 'StarredMessage', 'FileDownloadedMessage']),
  state: OneOf(updateStates, { description: 'The new state of the messages' }),
  event: Type.Object({
    MessageIDs: Type.Array(Type.String(), { description: 'The `messageid` of each message' }),
    Chat: say('The same as `chatid`'),
    chatid: say('The conversation'),
    Sender: say('The person who caused the event, as the platform names them'),
    ...sender,
    IsFromMe: Type.Boolean({ description: 'True if the account itself caused the event' }),
    IsGroup: isGroup,
    Timestamp: isoTime('The time of the event'),
    Type: say('`state` in another spelling if the account itself caused the event. Use `state`'),
    Error: optional(say('The reason why a message failed')),
    FileURL: optional(say('The address of the file, for `FileDownloaded`')),
    MimeType: optional(say('The type of the file, for `FileDownloaded`')),
  }),
});

const ConnectionEvent = event('ConnectionEvent', 'connection', {
  type: optional(OneOf(['LoggedOut', 'AccountChanged'], { description: 'Present if the session was logged out, or has another account' })),
  formerOwner: optional(say('The number of the former account, for `AccountChanged`')),
  instance: Type.Object({
    name: say('The name of the instance'),
    status: OneOf(statuses),
    qrcode: optional(say('The first picture of a pairing, as a data URL')),
    passkey: optional(PasskeyNotice),
    lastDisconnect: optional(say('The time at which the connection ended')),
    lastDisconnectReason: optional(say('The reason why the connection ended')),
  }),
});

const PresenceEvent = event('PresenceEvent', 'presence', {
  event: Type.Object({
    State: OneOf(['composing', 'paused', 'available', 'unavailable']),
    Media: OneOf(['', 'audio'], { description: '`audio` while the contact records' }),
    IsFromMe: Type.Boolean(),
    IsGroup: isGroup,
    Chat: say('The same as `chatid`'),
    chatid: say('The conversation'),
    Sender: say('The person, as the platform names them'),
    ...sender,
    LastSeen: optional(isoTime('The time at which the person was last seen')),
  }),
});

const callFields = {
  chatid: say('The conversation'),
  id: say('The id of the call'),
  from: say('The caller, as the platform names them'),
  ...sender,
  status: say('`offer`, `accept`, `reject`, `timeout` or `terminate`. For a past call, its outcome'),
  isVideo: Type.Boolean(),
  isGroup,
  timestamp: milliseconds('The time of the event'),
};
const CallEvent = event('CallEvent', 'call', {
  call: Type.Object({
    ...callFields,
    offline: optional(Type.Boolean({ description: 'True if the call arrived while the session was offline' })),
  }),
});
const PastCall = Type.Object({
  ...callFields,
  fromMe: optional(Type.Boolean()),
  seconds: optional(Type.Integer({ description: 'The duration of the call, in seconds' })),
});

const Contact = Type.Object({
  jid: say('The chat id'),
  lid: say('The LID'),
  phone: say('The number in international form'),
  contact_name: say('The name in the address book; empty if there is none'),
  wa_name: say('The name that the person chose'),
});
const ContactsEvent = event('ContactsEvent', 'contacts', { contact: Contact });
const ChatsEvent = event('ChatsEvent', 'chats', { chat: ref(Chat) });

const ChatLabels = Type.Object({
  wa_chatid: say('The conversation'),
  phone: say('The number in international form'),
  wa_label: Type.Array(Type.String(), { description: 'All labels of the chat, as `<owner>:<labelid>`' }),
});
const ChatLabelsEvent = event('ChatLabelsEvent', 'chat_labels', { chat: ChatLabels });

const LabelsEvent = event('LabelsEvent', 'labels', {
  type: OneOf(['LabelEdit']),
  event: Type.Object({
    LabelID: say('The id of the label on the phone'),
    Action: Type.Object({ name: Type.String(), color: Type.Integer({ description: 'Index of the colour' }), deleted: Type.Boolean() }),
  }),
});
const PastLabel = Type.Object({
  ...fields('id labelid name owner', Type.String()),
  color: Type.Integer({ description: 'Index of the colour' }),
  colorHex: OneOf(labelColors),
});

const setBy = (name: string) => fields(`${name}SetAt ${name}SetBy ${name}SetByPN`, optional(Type.String()));
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const Link = Type.Object({ Type: Type.String(), UnlinkReason: Type.String(), Group: Type.Object(fields('JID Name', Type.String())) });
const idsOrNull = (description: string) =>
  Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: { type: 'string' }, description });
const trueOrNull = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] });

/** Fields of a group event: the group, the person who caused the event, and the time. */
const groupAct = {
  JID: say('The group'),
  Notify: TextOrNull({ description: 'The name that the person chose' }),
  Sender: TextOrNull({ description: 'The person who caused the change, as the platform names them' }),
  SenderPN: TextOrNull(),
  Timestamp: isoTime('The time of the event'),
  ...sender,
};

const changes = {
  Name: orNull(Type.Object({ Name: Type.String(), ...setBy('Name') })),
  Topic: orNull(Type.Object({ Topic: Type.String(), TopicID: optional(Type.String()), TopicDeleted: Type.Boolean(), ...setBy('Topic') })),
  Locked: orNull(Type.Object({ IsLocked: Type.Boolean() })),
  Announce: orNull(Type.Object({ IsAnnounce: Type.Boolean() })),
  Ephemeral: orNull(Type.Object({ IsEphemeral: Type.Boolean(), DisappearingTimer: Type.Integer({ description: 'Seconds' }) })),
  MembershipApprovalMode: orNull(Type.Object({ IsJoinApprovalRequired: Type.Boolean() })),
  Delete: orNull(Type.Object({ Deleted: Type.Boolean(), DeleteReason: Type.String() })),
  Link: orNull(Link),
  Unlink: orNull(Link),
  NewInviteLink: TextOrNull(),
  PrevParticipantVersionID: TextOrNull(),
  ParticipantVersionID: TextOrNull(),
  JoinReason: TextOrNull(),
  Suspended: trueOrNull,
  Unsuspended: trueOrNull,
  UnknownChanges: Type.Unsafe<unknown[] | null>({
    type: ['array', 'null'],
    items: Type.Object({ Tag: Type.String(), Attrs: Type.Record(Type.String(), Type.String()), Content: Type.Unknown() }),
    description: 'Changes without a field of their own, in the form of the platform',
  }),
  Join: idsOrNull('People who joined'),
  Leave: idsOrNull('People who left'),
  Promote: idsOrNull('People who became admins'),
  Demote: idsOrNull('People who are no longer admins'),
  JoinLid: idsOrNull('LIDs of the people who joined'),
  LeaveLid: idsOrNull('LIDs of the people who left'),
};

export const GroupChangedEvent = event('GroupChangedEvent', 'groups', {
  type: Type.Literal('Group'),
  event: Type.Object({ ...groupAct, ...changes }, { description: 'Fields without a change are null' }),
});

const absent = Object.fromEntries(
  Object.keys(changes)
    .filter((name) => !(name in Group.properties))
    .map((name) => [name, Type.Null()]),
);
export const GroupJoinedEvent = event('GroupJoinedEvent', 'groups', {
  type: Type.Literal('JoinedGroup'),
  event: Type.Intersect([
    ref(Group),
    Type.Object({ ...groupAct, ...absent, JoinReason: TextOrNull(), Reason: Type.String(), Type: Type.String() }),
  ]),
});
const GroupsEvent = {
  ...Type.Union([ref(GroupChangedEvent), ref(GroupJoinedEvent)]),
  $id: 'GroupsEvent',
};

const HistoryEvent = event('HistoryEvent', 'history', {
  event: OneOf(['messages', 'chats', 'calls', 'status', 'labels', 'chat_labels'], { description: 'The array that is present' }),
  batchNumber: Type.Integer({ description: 'Number of the batch, from 1' }),
  batchTotal: Type.Integer(),
  messages: optional(Type.Array(ref(EventMessage), { description: 'The messages. The content of a very large message is left out' })),
  chats: optional(Type.Array(ref(Chat))),
  calls: optional(Type.Array(PastCall)),
  status: optional(Type.Array(ref(EventMessage), { description: 'Status posts' })),
  labels: optional(Type.Array(PastLabel)),
  chat_labels: optional(Type.Array(ChatLabels)),
});

const SenderEvent = event('SenderEvent', 'sender', {
  folder_id: say('The campaign'),
  info: say('The note of the campaign'),
  status: say('`queued`, `sending`, `paused` or `done`'),
  reason: optional(say('The reason why the campaign is paused')),
  messageCount: Type.Integer({ description: 'All recipients' }),
  sentCount: Type.Integer(),
  failedCount: Type.Integer({ description: 'Recipients who got no message, including those of the next two fields' }),
  skippedCount: Type.Integer(),
  unknownCount: Type.Integer({ description: 'Recipients whose message may or may not have been sent' }),
  scheduled_for: milliseconds('The start of the campaign'),
});

const TestEvent = event('TestEvent', 'test', { test: Type.Literal(true) });

/** The shape of each event by its type. */
export const eventShapes = {
  messages: MessagesEvent,
  messages_update: MessagesUpdateEvent,
  connection: ConnectionEvent,
  presence: PresenceEvent,
  chats: ChatsEvent,
  contacts: ContactsEvent,
  labels: LabelsEvent,
  chat_labels: ChatLabelsEvent,
  groups: GroupsEvent,
  call: CallEvent,
  history: HistoryEvent,
  sender: SenderEvent,
  newsletter_messages: NewsletterMessagesEvent,
  test: TestEvent,
} as const satisfies Readonly<Record<EventType | 'test', TSchema>>;

/** Any event. `EventType` distinguishes the types. */
const WebhookEvent = { ...Type.Union(Object.values(eventShapes).map((shape) => ref(shape))), $id: 'WebhookEvent' };

export const eventSchemas: readonly TSchema[] = [
  EventEnvelope,
  EventMessage,
  GroupChangedEvent,
  GroupJoinedEvent,
  ...Object.values(eventShapes),
  WebhookEvent,
];
