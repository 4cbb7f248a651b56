/** The tables of what stands both here and in an inbox of Chatwoot. Without foreign keys, as messages are. */
import { defineEntity, p } from '@mikro-orm/core';
import { time } from './instance.ts';

const ofInbox = {
  /** Names the server, the account and the inbox. Rows of another inbox than that of the settings are as good as gone. */
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
    /** Id of the message in Chatwoot. */
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
