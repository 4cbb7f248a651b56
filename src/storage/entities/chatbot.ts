/** The tables of definitions (labels, quick replies, agents, triggers), and of the chatbot. */
import { defineEntity, p } from '@mikro-orm/core';
import type { Definition } from '#actors/model.ts';
import { time } from './instance.ts';

// The tables of the chatbot. Its agents and triggers are definitions.

/** The key of an agent, sealed. */
export const ChatbotKeyEntity = defineEntity({
  name: 'ChatbotKey',
  tableName: 'chatbot_key',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    agentId: p.text().primary(),
    sealed: p.blob(),
    /** The service for which the key was given. */
    provider: p.text().nullable(),
    baseUrl: p.text().nullable(),
  },
});

/** Tokens that an instance used on a day (`2026-08-19`, in UTC). */
export const ChatbotUsageEntity = defineEntity({
  name: 'ChatbotUsage',
  tableName: 'chatbot_usage',
  properties: {
    instanceId: p.text().primary(),
    day: p.text().primary(),
    tokens: p.bigint('number'),
  },
});

// The table of what is defined once for an instance.

/** Without a foreign key, as chats are. */
export const DefinitionEntity = defineEntity({
  name: 'Definition',
  tableName: 'definition',
  properties: {
    instanceId: p.text().primary(),
    /** `label`, `quickReply`, `leadTag`, `channel`, `channelListing`. */
    kind: p.text().primary(),
    id: p.text().primary(),
    value: p.json<Definition['value']>(),
    created: time(),
    updated: time(),
  },
});
