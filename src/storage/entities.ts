/** The tables as MikroORM sees them. Times are Unix milliseconds; everything of an instance goes with it, by the database's own hand. */
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

const time = () => p.bigint('number');

/** `token` and `aiApikey` are sealed; tokens are looked up by their hash. */
export const InstanceEntity = defineEntity({
  name: 'Instance',
  tableName: 'instance',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    tokenHash: p.blob().unique(),
    token: p.blob(),
    wanted: p.text(),
    epoch: p.integer(),
    owner: p.text(),
    jid: p.text(),
    lid: p.text(),
    profileName: p.text(),
    profilePicUrl: p.text(),
    isBusiness: p.boolean(),
    platform: p.text(),
    systemName: p.text(),
    lastDisconnect: time().nullable(),
    lastDisconnectReason: p.text(),
    lastDisconnectCause: p.text(),
    adminField01: p.text().fieldName('admin_field01'),
    adminField02: p.text().fieldName('admin_field02'),
    aiApikey: p.blob(),
    chatbotEnabled: p.boolean(),
    chatbotIgnoreGroups: p.boolean(),
    chatbotStopConversation: p.text(),
    chatbotStopMinutes: p.integer(),
    chatbotStopWhenYouSendMsg: p.integer(),
    fieldsMap: p.json<Readonly<Record<string, unknown>>>().nullable(),
    lastActiveAt: time(),
    created: time(),
    updated: time(),
  },
});

const ofInstance = () => p.manyToOne(InstanceEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('instance_id');

export const CredentialEntity = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob() },
});

export const SignalKeyEntity = defineEntity({
  name: 'SignalKey',
  tableName: 'signal_key',
  properties: { instance: () => ofInstance().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** Received stanzas whose messages may not be stored yet. A stanza that was tried too often is kept aside in its row. */
export const InboundEntity = defineEntity({
  name: 'Inbound',
  tableName: 'inbound',
  properties: {
    instance: () => ofInstance().primary(),
    seq: p.bigint('number').primary(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

/** Credentials of the last session that the platform ended, kept apart. */
export const RetiredCredentialEntity = defineEntity({
  name: 'RetiredCredential',
  tableName: 'retired_credential',
  properties: { instance: () => ofInstance().primary(), sealed: p.blob(), reason: p.text(), at: time() },
});

export const RetiredKeyEntity = defineEntity({
  name: 'RetiredKey',
  tableName: 'retired_key',
  properties: { instance: () => ofInstance().primary(), type: p.text().primary(), id: p.text().primary(), sealed: p.blob() },
});

/** `id` is too short to be unique; `seq` is the order of arrival, since the platform's times are whole seconds. */
export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'message',
  properties: {
    instance: () => ofInstance().primary(),
    messageId: p.text().primary(),
    chatId: p.text().primary(),
    seq: p.bigint('number').autoincrement(),
    id: p.text(),
    chatLid: p.text(),
    sender: p.text(),
    senderPn: p.text(),
    senderLid: p.text(),
    senderName: p.text(),
    groupName: p.text(),
    isGroup: p.boolean(),
    fromMe: p.boolean(),
    wasSentByApi: p.boolean(),
    messageType: p.text(),
    type: p.text(),
    mediaType: p.text(),
    source: p.text(),
    timestamp: time(),
    status: p.text(),
    text: p.text(),
    quoted: p.text(),
    edited: p.text(),
    reaction: p.text(),
    vote: p.text(),
    convertOptions: p.text(),
    buttonOrListId: p.text(),
    error: p.text(),
    content: p.json().nullable(),
    sendFunction: p.text(),
    sendPayload: p.json().nullable(),
    fileUrl: p.text(),
    trackSource: p.text(),
    trackId: p.text(),
    raw: p.blob().nullable(),
    /** Received, and not yet read by the account. */
    unread: p.boolean(),
    /** 0 until it is deleted for everyone. */
    deletedAt: time(),
  },
  indexes: [
    { name: 'message_short_id', properties: ['instance', 'id'] },
    { name: 'message_by_time', properties: ['instance', 'timestamp', 'seq'] },
    { name: 'message_by_chat', properties: ['instance', 'chatId', 'timestamp', 'seq'] },
    {
      name: 'message_track_id',
      expression: `create index "message_track_id" on "message" ("instance_id", "left"(track_id, 100)) where track_id <> ''`,
    },
    {
      name: 'message_track_source',
      expression: `create index "message_track_source" on "message" ("instance_id", "left"(track_source, 100), "timestamp", "seq") where track_source <> ''`,
    },
    { name: 'message_waiting', expression: `create index "message_waiting" on "message" ("instance_id", "seq") where status = 'Queued'` },
    {
      name: 'message_unread',
      expression: `create index "message_unread" on "message" ("instance_id", "chat_id", "timestamp", "seq") where unread`,
    },
  ],
});

export const ChatEntity = defineEntity({
  name: 'Chat',
  tableName: 'chat',
  properties: {
    instance: () => ofInstance().primary(),
    chatId: p.text().primary(),
    id: p.text(),
    chatLid: p.text(),
    isGroup: p.boolean(),
    phone: p.text(),
    name: p.text(),
    contactName: p.text(),
    pushName: p.text(),
    image: p.text(),
    imagePreview: p.text(),
    archived: p.boolean(),
    blocked: p.boolean(),
    pinned: p.boolean(),
    groupAdmin: p.boolean(),
    groupAnnounce: p.boolean(),
    groupCommunity: p.boolean(),
    groupMember: p.boolean(),
    ephemeralExpiration: time(),
    muteEndTime: time(),
    labels: p.array(),
    notes: p.text(),
    unreadCount: time(),
    lastMessageText: p.text(),
    lastMessageType: p.text(),
    lastMessageSender: p.text(),
    lastMessageTimestamp: time(),
    extra: p.json<Readonly<Record<string, unknown>>>(),
  },
  indexes: [{ name: 'chat_by_time', properties: ['instance', 'lastMessageTimestamp', 'chatId'] }],
});

export const WebhookEntity = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.text().primary(),
    instance: () => ofInstance().nullable().index('webhook_instance'),
    enabled: p.boolean(),
    url: p.text(),
    events: p.array(),
    excludeMessages: p.array(),
    addUrlEvents: p.boolean(),
    addUrlTypesMessages: p.boolean(),
    managed: p.boolean(),
    created: time(),
    /** Secret and headers, sealed; null when there is neither. */
    private: p.blob().nullable(),
  },
});

/** One waiting delivery a row. `notBefore` is 0 while it waits in its lane. */
export const OutboxEntity = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  properties: {
    seq: p.bigint('number').primary(),
    webhook: () => p.manyToOne(WebhookEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('webhook_id'),
    instance: () => ofInstance().index('outbox_instance'),
    eventId: p.text(),
    type: p.text(),
    messageType: p.text(),
    lane: p.text(),
    body: p.text(),
    attempts: p.integer(),
    at: time(),
    notBefore: time(),
    /** Of the last attempt that is known. */
    status: p.integer().default(0),
    error: p.text().default(''),
    /** Bytes of the body. */
    size: p.integer().default(0),
  },
  indexes: [
    {
      name: 'outbox_lane',
      expression: `create index "outbox_lane" on "outbox" ("webhook_id", "instance_id", "seq") include (not_before, size, at)`,
    },
    {
      name: 'outbox_parked',
      expression: `create index "outbox_parked" on "outbox" ("webhook_id", "instance_id", "not_before") where not_before > 0`,
    },
  ],
});

/** One past delivery a row: given up (`dead`) or delivered. Removed with its webhook and its instance by their stores. */
export const ArchiveEntity = defineEntity({
  name: 'Archive',
  tableName: 'archive',
  properties: {
    webhookId: p.text().primary(),
    dead: p.boolean().primary(),
    at: time().primary(),
    seq: p.bigint('number').primary(),
    instanceId: p.text(),
    eventId: p.text(),
    type: p.text(),
    messageType: p.text(),
    lane: p.text(),
    body: p.text(),
    attempts: p.integer(),
    status: p.integer(),
    error: p.text(),
    endedAt: time(),
  },
});

export const SettingEntity = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: { name: p.text().primary(), value: p.text() },
});

export const entities = [
  InstanceEntity,
  CredentialEntity,
  SignalKeyEntity,
  InboundEntity,
  RetiredCredentialEntity,
  RetiredKeyEntity,
  MessageEntity,
  ChatEntity,
  WebhookEntity,
  OutboxEntity,
  ArchiveEntity,
  SettingEntity,
] as const;

export type InstanceRow = InferEntity<typeof InstanceEntity>;
export type WebhookRow = InferEntity<typeof WebhookEntity>;
