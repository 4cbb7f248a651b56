/** Tables of campaigns, of definitions (labels, quick replies, agents, triggers), and of the connector to Chatwoot. */
import { defineEntity, p } from '@mikro-orm/core';
import type { CampaignSend, Definition } from '#actors/model.ts';
import { time } from './instance.ts';

// The tables of campaigns.

const count = () => p.integer().default(0);

/** Campaigns. Every statement that changes recipients also updates the counts of their campaign. */
export const CampaignEntity = defineEntity({
  name: 'Campaign',
  tableName: 'campaign',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    info: p.text(),
    status: p.text(),
    reason: p.text().default(''),
    /** The message for all recipients. Null if each recipient has its own message. */
    shared: p.json<CampaignSend>().nullable(),
    scheduledFor: time(),
    delayMin: p.integer(),
    delayMax: p.integer(),
    total: p.integer(),
    sent: count(),
    failed: count(),
    skipped: count(),
    unknown: count(),
    delivered: count(),
    read: count(),
    played: count(),
    /** No recipient before this position has the state `waiting`. */
    next: count(),
    created: time(),
    updated: time(),
    startedAt: time().default(0),
    finishedAt: time().default(0),
  },
  indexes: [
    {
      name: 'campaign_active',
      expression: `create index "campaign_active" on "campaign" ("instance_id") where status in ('waiting', 'sending')`,
    },
    { name: 'campaign_paused', expression: `create index "campaign_paused" on "campaign" ("updated") where status = 'paused'` },
    { name: 'campaign_done', expression: `create index "campaign_done" on "campaign" ("finished_at") where status = 'done'` },
    {
      name: 'campaign_deleting',
      expression: `create index "campaign_deleting" on "campaign" ("instance_id", "id") where status = 'deleting'`,
    },
  ],
});

/** Recipients of campaigns. `messageId` is '' until the recipient's message is queued, and thereby stored in the message table. */
export const CampaignRecipientEntity = defineEntity({
  name: 'CampaignRecipient',
  tableName: 'campaign_recipient',
  properties: {
    instanceId: p.text().primary(),
    campaignId: p.text().primary(),
    position: p.integer().primary(),
    number: p.text(),
    chatId: p.text(),
    state: p.text(),
    error: p.text(),
    messageId: p.text().default(''),
    at: time().default(0),
    own: p.json<CampaignSend>().nullable(),
  },
  indexes: [
    { name: 'campaign_recipient_by_state', properties: ['instanceId', 'campaignId', 'state', 'position'] },
    {
      name: 'campaign_recipient_sending',
      expression: `create index "campaign_recipient_sending" on "campaign_recipient" ("instance_id") where state = 'sending'`,
    },
  ],
});

/** Contacts that get no campaigns. */
export const OptOutEntity = defineEntity({
  name: 'OptOut',
  tableName: 'opt_out',
  properties: { instanceId: p.text().primary(), chatId: p.text().primary(), at: time(), source: p.text() },
  indexes: [{ name: 'opt_out_by_time', properties: ['instanceId', 'at', 'chatId'] }],
});

// The tables of the chatbot. Its agents and triggers are definitions.

/** The API key of an agent, sealed. */
export const ChatbotKeyEntity = defineEntity({
  name: 'ChatbotKey',
  tableName: 'chatbot_key',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    agentId: p.text().primary(),
    sealed: p.blob(),
    /** The service to which the key may be sent. */
    provider: p.text().nullable(),
    baseUrl: p.text().nullable(),
  },
});

/** Tokens of language models that an instance used on a day (`2026-08-19`, in UTC). */
export const ChatbotUsageEntity = defineEntity({
  name: 'ChatbotUsage',
  tableName: 'chatbot_usage',
  properties: {
    instanceId: p.text().primary(),
    day: p.text().primary(),
    tokens: p.bigint('number'),
  },
});

// The table of definitions.

/** Definitions. There is no foreign key, for the reason in `MessageEntity`. */
export const DefinitionEntity = defineEntity({
  name: 'Definition',
  tableName: 'definition',
  properties: {
    instanceId: p.text().primary(),
    /** A `DefinitionKind`, such as `label` or `quickReply`. */
    kind: p.text().primary(),
    id: p.text().primary(),
    value: p.json<Definition['value']>(),
    created: time(),
    updated: time(),
  },
});

// The tables of the connector: links from chats and messages to an inbox of Chatwoot. They have no foreign keys, for the reason in `MessageEntity`.

const ofInbox = {
  /** The server, the account and the inbox as one text. Rows of inboxes other than the configured one are ignored. */
  inbox: p.text(),
};

export const ChatwootChatEntity = defineEntity({
  name: 'ChatwootChat',
  tableName: 'chatwoot_chat',
  properties: {
    instanceId: p.text().primary(),
    chatId: p.text().primary(),
    ...ofInbox,
    contactId: time(),
    sourceId: p.text(),
    conversationId: time(),
    name: p.text(),
    image: p.text(),
  },
  indexes: [{ name: 'chatwoot_chat_conversation', properties: ['instanceId', 'conversationId'] }],
});

export const ChatwootMessageEntity = defineEntity({
  name: 'ChatwootMessage',
  tableName: 'chatwoot_message',
  properties: {
    instanceId: p.text().primary(),
    key: p.text().primary(),
    ...ofInbox,
    conversationId: time(),
    id: time(),
    progress: p.integer(),
    at: time(),
  },
  indexes: [
    { name: 'chatwoot_message_id', properties: ['instanceId', 'id'] },
    { name: 'chatwoot_message_at', properties: ['at'] },
  ],
});

/** Replies of agents that are not sent yet. */
export const ChatwootReplyEntity = defineEntity({
  name: 'ChatwootReply',
  tableName: 'chatwoot_reply',
  properties: {
    instanceId: p.text().primary(),
    /** The id of the message in Chatwoot. */
    id: p.bigint('number').primary(),
    kind: p.text().primary(),
    ...ofInbox,
    seq: p.bigint('number').autoincrement(),
    conversationId: time(),
    news: p.json<unknown>(),
    at: time(),
    notBefore: time(),
    attempts: p.integer(),
    begun: p.integer().default(0),
    failure: p.text(),
    refused: p.json<unknown>().defaultRaw(`'[]'`),
  },
  indexes: [{ name: 'chatwoot_reply_lane', properties: ['instanceId', 'conversationId', 'seq'] }],
});
