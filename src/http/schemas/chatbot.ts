/** Shapes of the chatbot: its settings, its agents and its triggers. */
import { Type } from 'typebox';
import { longestKeyword } from '#actors/gateway.ts';
import { agentBody, agentFields, keyNote, triggerBody, triggerFields } from '#src/contract/views.ts';
import { Count, fields, Flag, LooseText, OneOf, optional, ref, Text } from './common.ts';

const times = { created: '2026-08-19 17:36:34.345Z', updated: '2026-08-19 17:36:34.345Z' };

const agentExample = {
  id: 'r1a2b3c4d5e6f70',
  name: 'Ada',
  provider: 'openai',
  baseUrl: '',
  model: 'gpt-5-mini',
  apikey: '********',
  basePrompt: 'You help the customers of a flower shop.',
  maxTokens: 500,
  temperature: 30,
  diversityLevel: null,
  frequencyPenalty: null,
  presencePenalty: null,
  signMessages: false,
  readMessages: true,
  maxMessageLength: 1_000,
  typingDelay_seconds: 2,
  contextTimeWindow_hours: 24,
  contextMaxMessages: 20,
  contextMinMessages: 2,
  tools: ['handOver', 'sendMedia'],
  media: [
    { name: 'catalogue', description: 'All bouquets with their prices', type: 'document', file: 'https://example.com/catalogue.pdf' },
  ],
  handOver_minutes: 60,
  owner: '5511988887777',
  ...times,
};

export const ChatbotAgent = Type.Object(agentFields, { $id: 'ChatbotAgent', examples: [agentExample] });

export const AgentsAnswer = Type.Array(ref(ChatbotAgent));

export const EditAgentBody = Type.Object({
  id: optional(LooseText(60, 'The agent; without it one is made')),
  delete: optional(Flag('Deletes it, with the triggers that lead to it')),
  agent: optional(Type.Object(agentBody, { description: 'Fields that are not given stay as they are' })),
});

/** The largest number of messages of a trial, and the largest length of a message in characters. Both limits are below the bounds of an agent's memory. */
const mostMessages = 100;
const longestMessage = 8_000;

export const TryAgentBody = Type.Object({
  agent_id: LooseText(60, 'The agent'),
  messages: Type.Array(
    Type.Object({
      role: OneOf(['user', 'assistant'], { description: '`user` is the contact, `assistant` the agent' }),
      text: Type.String({
        minLength: 1,
        maxLength: longestMessage,
        pattern: '\\S',
        description: 'Texts of the conversation',
        examples: ['When do you open?'],
      }),
    }),
    {
      minItems: 1,
      maxItems: mostMessages,
      description: `The conversation so far, at most ${mostMessages} messages; the last one is of the user`,
    },
  ),
});

export const TryAgentAnswer = Type.Object({
  ok: Type.Boolean(),
  text: Type.String({ description: 'The answer of the agent; empty if it failed', examples: ['We open at nine.'] }),
  error: optional(Type.String({ description: 'The reason, if it failed', examples: ['the service does not take the key'] })),
  tokens: Type.Integer({ description: 'Tokens that the trial used' }),
  tools: Type.Array(
    Type.Object({
      ...fields('name arguments', Type.String()),
      result: Type.String({ description: 'Result that the model got; a trial runs no tool' }),
    }),
  ),
});

export const UsageAnswer = Type.Object({
  limit: Type.Integer({ description: 'Tokens of one day; 0 is no limit' }),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'In UTC', examples: ['2026-08-19'] }),
      tokens: Type.Integer({ description: 'Tokens of the questions and answers of all agents, including trials', examples: [15_230] }),
    }),
    { description: 'Days with tokens, the latest first, up to a month back' },
  ),
});

export const ChatbotTrigger = Type.Object(triggerFields, {
  $id: 'ChatbotTrigger',
  examples: [
    {
      id: 'r2a2b3c4d5e6f70',
      active: true,
      type: 'agent',
      agent_id: 'r1a2b3c4d5e6f70',
      quickReply_id: '',
      ignoreGroups: true,
      lead_field: 'lead_status',
      lead_operator: 'not_equals',
      lead_value: 'won',
      priority: 1,
      wordsToStart: 'hello|good morning',
      responseDelay_seconds: 0,
      owner: '5511988887777',
      ...times,
    },
  ],
});

export const TriggersAnswer = Type.Array(ref(ChatbotTrigger));

export const EditTriggerBody = Type.Object({
  id: optional(LooseText(60, 'The trigger; without it one is made')),
  delete: optional(Flag('Deletes it')),
  trigger: optional(Type.Object(triggerBody, { description: 'Fields that are not given stay as they are' })),
});

const minutes = (description: string) => Count(0, 525_600, description);

export const ChatbotSettingsBody = Type.Object({
  ai_apikey: optional(
    Text(500, `Key for agents that have none of their own, and for transcriptions. An empty text takes it away. ${keyNote}`),
  ),
  openai_apikey: optional(Text(500, 'The older name of ai_apikey')),
  chatbot_enabled: optional(Flag('Turns the chatbot on or off')),
  chatbot_ignoreGroups: optional(Flag('Leaves all groups alone')),
  chatbot_stopConversation: optional(Text(longestKeyword, 'A message with this text alone pauses the chatbot in its chat; empty for none')),
  chatbot_stopMinutes: optional(minutes('Minutes of that pause; 0 is no pause')),
  chatbot_stopWhenYouSendMsg: optional(
    minutes('Minutes for which it leaves a chat alone in which the owner writes from a phone; 0 is no pause'),
  ),
});
