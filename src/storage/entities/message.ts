/** The tables of messages, their files and receipts, of idempotency keys and refused entries, and of waiting and past deliveries. */
import { defineEntity, p } from '@mikro-orm/core';
import { ofInstance, time, WebhookEntity } from './instance.ts';

// The table of messages.

/** Messages. `id` is short and not guaranteed to be unique. `seq` gives the order of arrival, because the platform's times are whole seconds. */
export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'message',
  properties: {
    /** There is no foreign key. Every write checks that its writer owns the instance, and the removal of an instance deletes its rows. */
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
    /** The end of the pin; 0 if the message is not pinned. */
    pinnedUntil: time(),
    starred: p.boolean().default(false),
    trackSource: p.text(),
    trackId: p.text(),
    /** The campaign of the message, and the position of its recipient in the campaign. */
    sendFolderId: p.text().default(''),
    sendPosition: p.integer().default(0),
    audience: p.json().nullable(),
    aiMetadata: p.json().nullable(),
    /** The number of a channel post in its channel, and its views and reactions. */
    post: p.json().nullable(),
    queuedSend: p.json().nullable(),
    raw: p.blob().nullable(),
    /** True for a received message that the account has not read. */
    unread: p.boolean(),
    /** The time of the deletion; 0 if the message is not deleted. */
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

// The tables of the receipts that group members send for own messages.

/** The receipts of old messages, as counts. A trigger of the message table deletes the counts of a message together with the message. */
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

/** The position up to which the receipts of an instance's messages were replaced by counts. */
export const ReceiptMarkEntity = defineEntity({
  name: 'ReceiptMark',
  tableName: 'receipt_mark',
  properties: { instanceId: p.text().primary(), at: time(), seq: time() },
});

/** Single receipts. A trigger of the message table deletes the receipts of a message together with the message. */
export const ReceiptEntity = defineEntity({
  name: 'Receipt',
  tableName: 'receipt',
  properties: {
    instanceId: p.text().primary(),
    messageId: p.text().primary(),
    member: p.text().primary(),
    memberPn: p.text(),
    /** `deliveredAt`, `readAt` and `playedAt` are 0 until the member's receipt arrives. */
    deliveredAt: time(),
    readAt: time(),
    playedAt: time(),
  },
});

// The table of idempotency keys.

/** Idempotency keys of sends. `hash` and `request` are digests. `answer` is null while the outcome of the message is unknown. */
export const SendKeyEntity = defineEntity({
  name: 'SendKey',
  tableName: 'send_key',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    hash: p.text().primary(),
    request: p.text(),
    messageId: p.text(),
    at: time(),
    answer: p.json<unknown>().nullable(),
  },
  indexes: [{ name: 'send_key_at', properties: ['at'] }],
});

// The table of entries that the database refused because of their data.

/** Refused entries. `sealed` is the entry, which may contain message texts. */
export const RefusedEntryEntity = defineEntity({
  name: 'RefusedEntry',
  tableName: 'refused_entry',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text(),
    error: p.text(),
    tries: p.integer(),
    at: time(),
    sealed: p.blob(),
  },
});

// The table of stored files.

/** A stored file of an instance, with its public name. An instance has one row for the same bytes. */
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
    /** The hash of the file from which this file was converted; '' for an original. */
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

// The tables of waiting and past deliveries.

/** The outbox, with one row for each waiting delivery. `notBefore` is 0 for a delivery that waits in its lane, and positive for a parked delivery. */
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
    /** The HTTP status of the last known attempt. */
    status: p.integer().default(0),
    error: p.text().default(''),
    /** The size of the body. In bytes. */
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

/** Changes of the counts of deliveries, and of the bytes in the outbox. The sum of a webhook's rows is its tally. */
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

/** Past deliveries: delivered or given up (`dead`). The removal of a webhook or an instance deletes its rows. */
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
