/** Shapes of the chatbot: its settings, its agents and its triggers. */
import { Type } from 'typebox';
import { agentProviders, agentTools, leadOperators, longestKeyword, mediaKinds } from '#actors/gateway.ts';
import { leadFields } from '#src/contract/views.ts';
import { Count, fields, Flag, LooseText, OneOf, optional, ref, Text } from './common.ts';

const times = { created: '2026-08-19 17:36:34.345Z', updated: '2026-08-19 17:36:34.345Z' };

const Percent = (description: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    maximum: 100,
    description: `${description}; 100 is 1.0, null is the usual value of the model`,
  });

const Media = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description: 'By which the model asks for it',
    examples: ['catalogue'],
  }),
  description: optional(Text(500, 'What it shows; the model reads this')),
  type: OneOf(mediaKinds, { description: 'How it is sent' }),
  file: Type.String({ minLength: 1, maxLength: 2_000, description: 'Its address', examples: ['https://example.com/catalogue.pdf'] }),
});

const keyNote =
  'Sealed at rest and never given back: answers have ******** for a key that is there, and given back that leaves it as it is';

const agentFields = {
  name: optional(Text(200, 'What it is called; required for a new one')),
  provider: optional(
    OneOf(agentProviders, {
      description: 'Whose service it asks; `custom` is any service with the chat completions of OpenAI. openai when left out',
    }),
  ),
  baseUrl: optional(
    Text(2_000, "Base address of the service, such as `https://llm.example.com/v1`; empty for the provider's own. Required for custom"),
  ),
  model: optional(Text(200, 'Model, as the provider names it; required for a new one')),
  apikey: optional(
    Text(500, `Key of the service, required for another origin, and unless the instance has one and baseUrl is empty. ${keyNote}`),
  ),
  basePrompt: optional(Text(50_000, 'What the agent is and how it answers')),
  maxTokens: optional(Count(0, 1_000_000, 'Tokens of one answer at most; 0 is the bound of the server')),
  temperature: optional(Percent('How freely it words its answers')),
  diversityLevel: optional(Percent('From how many words it chooses (top_p)')),
  frequencyPenalty: optional(Percent('How much it avoids words that it used often')),
  presencePenalty: optional(Percent('How much it avoids words that it used')),
  signMessages: optional(Flag('Puts its name above its answers')),
  readMessages: optional(Flag('Marks what it answers as read')),
  maxMessageLength: optional(Count(0, 65_536, 'Characters of one message; a longer answer is several. 0 is no limit')),
  typingDelay_seconds: optional(Count(0, 60, 'Seconds of typing before each message')),
  contextTimeWindow_hours: optional(Count(1, 8_760, 'Messages of the last hours are its memory')),
  contextMaxMessages: optional(Count(1, 200, 'Messages that it remembers at most')),
  contextMinMessages: optional(Count(0, 200, 'Messages that it remembers at least, whatever their age')),
  tools: optional(Type.Array(OneOf(agentTools), { maxItems: agentTools.length, description: 'What it may do beside answering' })),
  media: optional(Type.Array(Media, { maxItems: 50, description: 'Files that it may send, with the tool sendMedia' })),
  handOver_minutes: optional(Count(1, 525_600, 'Minutes for which the chatbot leaves a chat alone that it handed over to a person')),
};

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

const Share = Type.Unsafe<number | null>({ type: ['integer', 'null'] });

export const ChatbotAgent = Type.Object(
  {
    ...fields('id name baseUrl model basePrompt owner created updated', Type.String()),
    apikey: Type.String({ description: '******** when there is one' }),
    provider: OneOf(agentProviders),
    ...fields(
      'maxTokens maxMessageLength typingDelay_seconds contextTimeWindow_hours contextMaxMessages contextMinMessages handOver_minutes',
      Type.Integer(),
    ),
    ...fields('temperature diversityLevel frequencyPenalty presencePenalty', Share),
    ...fields('signMessages readMessages', Type.Boolean()),
    tools: Type.Array(OneOf(agentTools)),
    media: Type.Array(Type.Object({ ...fields('name description file', Type.String()), type: OneOf(mediaKinds) })),
  },
  { $id: 'ChatbotAgent', examples: [agentExample] },
);

export const AgentsAnswer = Type.Array(ref(ChatbotAgent));

export const EditAgentBody = Type.Object({
  id: optional(LooseText(60, 'The agent; without it one is made')),
  delete: optional(Flag('Deletes it, with the triggers that lead to it')),
  agent: optional(Type.Object(agentFields, { description: 'Fields that are not given stay as they are' })),
});

/** A trial holds fewer and shorter texts than the memory of an agent. */
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
        description: 'What was said',
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
      result: Type.String({ description: 'What the model was told; a trial runs no tool' }),
    }),
  ),
});

export const UsageAnswer = Type.Object({
  limit: Type.Integer({ description: 'Tokens of one day; 0 is no limit' }),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'In UTC', examples: ['2026-08-19'] }),
      tokens: Type.Integer({ description: 'Of questions and answers of all agents, trials included', examples: [15_230] }),
    }),
    { description: 'Days with tokens, the latest first, up to a month back' },
  ),
});

const triggerTypes = ['agent', 'quickreply', 'flow'] as const;
const comparable = leadFields.filter((name) =>
  /^lead_(?:name|fullName|email|personalid|status|tags|notes|isTicketOpen|field\d\d)$/.test(name),
);

const triggerFields = {
  active: optional(Flag('Whether it counts; true when left out')),
  type: optional(OneOf(triggerTypes, { description: 'What answers: an agent or a quick reply. There are no flows' })),
  agent_id: optional(LooseText(60, 'The agent, of type agent')),
  flow_id: optional(LooseText(60, 'There are no flows')),
  quickReply_id: optional(LooseText(60, 'The quick reply, of type quickreply')),
  ignoreGroups: optional(Flag('Leaves groups alone; true when left out')),
  lead_field: optional(OneOf(['', ...comparable], { description: 'Field of the lead that is compared; empty for none' })),
  lead_operator: optional(OneOf(leadOperators, { description: 'How it is compared' })),
  lead_value: optional(Text(2_000, 'With what it is compared')),
  priority: optional(Count(-1_000_000, 1_000_000, 'Of several that fit, the largest counts')),
  wordsToStart: optional(Text(5_000, 'Words or phrases, separated by bars: one of them has to stand in the text. Empty: every text')),
  responseDelay_seconds: optional(Count(0, 3_600, 'Seconds from the last text to the answer')),
};

export const ChatbotTrigger = Type.Object(
  {
    ...fields('id agent_id quickReply_id lead_field lead_value wordsToStart owner created updated', Type.String()),
    type: OneOf(['agent', 'quickreply']),
    lead_operator: OneOf(leadOperators),
    ...fields('active ignoreGroups', Type.Boolean()),
    ...fields('priority responseDelay_seconds', Type.Integer()),
  },
  {
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
  },
);

export const TriggersAnswer = Type.Array(ref(ChatbotTrigger));

export const EditTriggerBody = Type.Object({
  id: optional(LooseText(60, 'The trigger; without it one is made')),
  delete: optional(Flag('Deletes it')),
  trigger: optional(Type.Object(triggerFields, { description: 'Fields that are not given stay as they are' })),
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
