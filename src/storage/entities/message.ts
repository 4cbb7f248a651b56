/** The tables of messages, their files and receipts, of idempotency keys and refused entries, and of waiting and past deliveries. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time, WebhookEntity } from './instance.ts';

// The table of messages.

/** `id` is too short to be unique; `seq` is the order of arrival, since the platform's times are whole seconds. */
export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'message',
  properties: {
    /** Without a foreign key: every write checks that its writer owns the instance, and removals know the table. */
    instanceId: p.text().primary(),
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
    peer: p.json().nullable(),
    content: p.json().nullable(),
    sendFunction: p.text(),
    sendPayload: p.json().nullable(),
    fileUrl: p.text(),
    /** 0 when it is not pinned. */
    pinnedUntil: time(),
    starred: p.boolean().default(false),
    trackSource: p.text(),
    trackId: p.text(),
    /** The campaign that it belongs to, and its recipient there. */
    sendFolderId: p.text().default(''),
    sendPosition: p.integer().default(0),
    audience: p.json().nullable(),
    aiMetadata: p.json().nullable(),
    /** Number, views and reactions of a channel post. */
    post: p.json().nullable(),
    queuedSend: p.json().nullable(),
    raw: p.blob().nullable(),
    /** Received, and not yet read by the account. */
    unread: p.boolean(),
    /** 0 until it is deleted for everyone. */
    deletedAt: time(),
  },
  indexes: [
    { name: 'message_short_id', properties: ['instanceId', 'id'] },
    { name: 'message_by_time', properties: ['instanceId', 'timestamp', 'seq'] },
    { name: 'message_by_chat', properties: ['instanceId', 'chatId', 'timestamp', 'seq'] },
    {
      name: 'message_track_id',
      expression: `create index "message_track_id" on "message" ("instance_id", "left"(track_id, 100)) where track_id <> ''`,
    },
    {
      name: 'message_track_source',
      expression: `create index "message_track_source" on "message" ("instance_id", "left"(track_source, 100), "timestamp", "seq") where track_source <> ''`,
    },
    {
      name: 'message_by_kind',
      expression: `create index "message_by_kind" on "message" ("instance_id", "message_type", "timestamp", "seq") where message_type not in ('Conversation', 'ExtendedTextMessage')`,
    },
    {
      name: 'message_by_post',
      expression: `create index "message_by_post" on "message" ("instance_id", "chat_id", ((post ->> 'serverId')::bigint)) where post is not null`,
    },
    { name: 'message_waiting', expression: `create index "message_waiting" on "message" ("instance_id", "seq") where status = 'Queued'` },
    {
      name: 'message_by_folder',
      expression: `create index "message_by_folder" on "message" ("instance_id", "timestamp") where send_folder_id <> ''`,
    },
    {
      name: 'message_unread',
      expression: `create index "message_unread" on "message" ("instance_id", "chat_id", "timestamp", "seq") where unread`,
    },
  ],
});

// The table of what members of groups confirmed of own messages.

/** Receipts of old messages, as counts. They go with their message too. */
export const ReceiptCountEntity = defineEntity({
  name: 'ReceiptCount',
  tableName: 'receipt_count',
  properties: {
    instanceId: p.text().primary(),
    messageId: p.text().primary(),
    delivered: p.integer(),
    read: p.integer(),
    played: p.integer(),
  },
});

/** Up to which message the receipts of an instance are counts. */
export const ReceiptMarkEntity = defineEntity({
  name: 'ReceiptMark',
  tableName: 'receipt_mark',
  properties: { instanceId: p.text().primary(), at: time(), seq: time() },
});

/** Rows go with their message: a trigger of the message table removes them. */
export const ReceiptEntity = defineEntity({
  name: 'Receipt',
  tableName: 'receipt',
  properties: {
    instanceId: p.text().primary(),
    messageId: p.text().primary(),
    member: p.text().primary(),
    memberPn: p.text(),
    /** A time is 0 without a confirmation. */
    deliveredAt: time(),
    readAt: time(),
    playedAt: time(),
  },
});

// The table of the keys under which sends are repeated.

/** `hash` and `request` are digests. `answer` is null while the outcome of the message is unknown. */
export const SendKeyEntity = defineEntity({
  name: 'SendKey',
  tableName: 'send_key',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    hash: p.text().primary(),
    request: p.text(),
    messageId: p.text(),
    at: time(),
    answer: p.json<unknown>().nullable(),
  },
  indexes: [{ name: 'send_key_at', properties: ['at'] }],
});

// The table of entries that the database refused for their data.

/** `id` grows with time. `sealed` is the entry, which may hold message texts. */
export const RefusedEntryEntity = defineEntity({
  name: 'RefusedEntry',
  tableName: 'refused_entry',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text(),
    error: p.text(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

// The table of files: who keeps which bytes, and under which public name.

/** One row for an instance and its bytes. */
export const FileEntity = defineEntity({
  name: 'File',
  tableName: 'file',
  properties: {
    name: p.text().primary(),
    instance: () => ofInstance(),
    hash: p.text(),
    size: p.bigint('number'),
    mimetype: p.text(),
    filename: p.text(),
    messageId: p.text(),
    /** Hash of the file that it was converted from. */
    madeOf: p.text(),
    created: time(),
    used: time(),
  },
  uniques: [{ name: 'file_of_instance', properties: ['instance', 'hash'] }],
  indexes: [
    { name: 'file_message', expression: `create index "file_message" on "file" ("instance_id", "message_id") where message_id <> ''` },
    { name: 'file_made_of', expression: `create index "file_made_of" on "file" ("instance_id", "made_of") where made_of <> ''` },
    { name: 'file_hash', properties: ['hash'] },
    { name: 'file_used', properties: ['used', 'name'] },
  ],
});

// Tables of deliveries: those that wait, and past ones.

/** One waiting delivery a row. `notBefore` is 0 while it waits in its lane. */
export const OutboxEntity = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  properties: {
    seq: p.bigint('number').primary(),
    webhook: () => p.manyToOne(WebhookEntity).mapToPk().deleteRule('cascade').updateRule('no action').fieldName('webhook_id'),
    instanceId: p.text(),
    eventId: p.text(),
    type: p.text(),
    messageType: p.text(),
    lane: p.text(),
    body: p.text(),
    attempts: p.integer(),
    at: time(),
    notBefore: time(),
    /** HTTP status of the last known attempt. */
    status: p.integer().default(0),
    error: p.text().default(''),
    /** Bytes of the body. */
    size: p.integer().default(0),
    /** JSON of the last attempts; '' for none. */
    tries: p.text().default(''),
  },
  indexes: [
    {
      name: 'outbox_waiting',
      expression: `create index "outbox_waiting" on "outbox" ("webhook_id", "instance_id", "seq") where not_before = 0`,
    },
    {
      name: 'outbox_parked',
      expression: `create index "outbox_parked" on "outbox" ("webhook_id", "instance_id", "not_before") where not_before > 0`,
    },
    {
      name: 'outbox_held',
      expression: `create index "outbox_held" on "outbox" ("webhook_id", "instance_id", "lane", "not_before" desc, "seq") where not_before > 0`,
    },
    { name: 'outbox_type', properties: ['webhook', 'type', 'at', 'seq'] },
  ],
});

/** Changes of the number of deliveries; the sum of a webhook's rows is its tally. */
export const OutboxTallyEntity = defineEntity({
  name: 'OutboxTally',
  tableName: 'outbox_tally',
  properties: {
    id: p.bigint('number').primary(),
    webhookId: p.text(),
    waiting: p.bigint('number').default(0),
    parked: p.bigint('number').default(0),
    bytes: p.bigint('number').default(0),
    delivered: p.bigint('number').default(0),
    dead: p.bigint('number').default(0),
  },
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
    /** JSON of the last attempts; '' for none. */
    tries: p.text().default(''),
  },
});
