/** The API representation of the chatbot: its agents, its triggers, and its state in a chat. */
import { type Static, type TObject, Type } from 'typebox';
import {
  type AiMetadata,
  agentProviders,
  agentTools,
  type Chat,
  type ChatbotAgent,
  type ChatbotState,
  type ChatbotTrigger,
  type Kept,
  leadOperators,
  mediaKinds,
} from '#actors/model.ts';
import { leadFields } from './chat-fields.ts';
import { fieldsOf, type Frozen, settableOf } from './fields.ts';
import { timeText } from './formats.ts';
import { Count, Flag, LooseText, OneOf, optional, Text } from './shapes.ts';

/** The text that answers contain in place of a stored key. A client that sends this text leaves the key unchanged. */
export const maskedKey = '********';

export const keyView = (isThere: boolean): string => (isThere ? maskedKey : '');

/** Returns the key from a client; undefined if the stored key stays unchanged. */
export const givenKey = (text: string | undefined): string | undefined => (text === maskedKey ? undefined : text?.trim());

const text = Type.String();
const whole = Type.Integer();
const flag = Type.Boolean();
const share = Type.Unsafe<number | null>({ type: ['integer', 'null'] });

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
    description: 'Name by which the model requests the file',
    examples: ['catalogue'],
  }),
  description: optional(Text(500, 'Content of the file, for the model')),
  type: OneOf(mediaKinds, { description: 'Form in which the file is sent' }),
  file: Type.String({ minLength: 1, maxLength: 2_000, description: 'Its address', examples: ['https://example.com/catalogue.pdf'] }),
});

const ShownMedia = Type.Object({ name: text, description: text, file: text, type: OneOf(mediaKinds) });

/** The description of every field that contains a key. */
export const keyNote =
  'Sealed at rest and never given back: answers have ******** for a key that is there, and given back that leaves it as it is';

const trim = { take: (given: string | number): string => String(given).trim() };

const { field: ofAgent, group: agentGroup } = settableOf<ChatbotAgent>();

const agentModel = agentGroup({
  name: ofAgent('name', text, Text(200, 'Name of the agent; required for a new agent'), trim),
  provider: ofAgent(
    'provider',
    OneOf(agentProviders),
    OneOf(agentProviders, {
      description: 'Provider of the service; `custom` is any service with the chat completions of OpenAI. openai if absent',
    }),
  ),
  baseUrl: ofAgent(
    'baseUrl',
    text,
    Text(2_000, "Base address of the service, such as `https://llm.example.com/v1`; empty for the provider's own. Required for custom"),
    { take: (given) => given.trim().replace(/(?<!\/)\/+$/, '') },
  ),
  model: ofAgent('model', text, Text(200, 'Model, as the provider names it; required for a new one'), trim),
});

const agentBehaviour = agentGroup({
  basePrompt: ofAgent('prompt', text, Text(50_000, 'Role of the agent, and rules for its answers')),
  maxTokens: ofAgent('maxTokens', whole, Count(0, 1_000_000, 'Tokens of one answer at most; 0 is the bound of the server')),
  temperature: ofAgent('temperature', share, Percent('Variation of its wording')),
  diversityLevel: ofAgent('diversity', share, Percent('Share of likely words among which it chooses (top_p)')),
  frequencyPenalty: ofAgent('frequencyPenalty', share, Percent('Avoidance of words that it used often')),
  presencePenalty: ofAgent('presencePenalty', share, Percent('Avoidance of words that it used before')),
  signMessages: ofAgent('signMessages', flag, Flag('Puts its name above its answers')),
  readMessages: ofAgent('readMessages', flag, Flag('Marks what it answers as read')),
  maxMessageLength: ofAgent(
    'maxMessageLength',
    whole,
    Count(0, 65_536, 'Characters of one message; a longer answer is several. 0 is no limit'),
  ),
  typingDelay_seconds: ofAgent('typingSeconds', whole, Count(0, 60, 'Seconds of typing before each message')),
  contextTimeWindow_hours: ofAgent('memoryHours', whole, Count(1, 8_760, 'Hours of messages that it remembers')),
  contextMaxMessages: ofAgent('memoryMost', whole, Count(1, 200, 'Largest number of messages that it remembers')),
  contextMinMessages: ofAgent('memoryLeast', whole, Count(0, 200, 'Smallest number of messages that it remembers, of any age')),
  tools: ofAgent(
    'tools',
    Type.Array(OneOf(agentTools)),
    Type.Array(OneOf(agentTools), { maxItems: agentTools.length, description: 'Tools that the agent may use' }),
    { take: (given) => [...new Set(given)] },
  ),
  media: ofAgent(
    'media',
    Type.Array(ShownMedia),
    Type.Array(Media, { maxItems: 50, description: 'Files that it may send, with the tool sendMedia' }),
    {
      show: (media) => media.map(({ name, description, as, file }) => ({ name, description, type: as, file })),
      take: (given) =>
        given.map(({ name, description = '', type, file }) => ({ name: name.trim(), description, as: type, file: file.trim() })),
    },
  ),
  handOver_minutes: ofAgent(
    'handOverMinutes',
    whole,
    Count(1, 525_600, 'Minutes for which the chatbot is silent in a chat after handing it over to a person'),
  ),
});

interface Owned {
  /** The number of the account. */
  readonly owner: string;
}

const agent = fieldsOf<Kept<'chatbotAgent'> & Owned & { readonly hasKey: boolean }>()({
  id: [text, ({ id }) => id],
  ...agentModel.rows,
  apikey: [Type.String({ description: '******** when there is one' }), ({ hasKey }) => keyView(hasKey)],
  ...agentBehaviour.rows,
  owner: [text, ({ owner }) => owner],
  created: [text, ({ created }) => timeText(created)],
  updated: [text, ({ updated }) => timeText(updated)],
});

export const agentFields = agent.schemas;

/** The schemas of the fields that a body may have. */
export const agentBody = {
  ...agentModel.taken,
  apikey: optional(
    Text(500, `Key of the service, required for another origin, and unless the instance has one and baseUrl is empty. ${keyNote}`),
  ),
  ...agentBehaviour.taken,
};

/** Returns the change of an agent that a body requests, apart from its key. */
export const agentChange = (body: Frozen<Static<TObject<typeof agentBody>>>): Partial<ChatbotAgent> => ({
  ...agentModel.change(body),
  ...agentBehaviour.change(body),
});

export const agentView = (record: Kept<'chatbotAgent'>, hasKey: boolean, owner: string) => agent.view({ ...record, hasKey, owner });

/** Types of triggers in the interface. Flows do not exist in this gateway. */
const triggerTypes = ['agent', 'quickreply', 'flow'] as const;

const comparable = leadFields.filter((name) =>
  /^lead_(?:name|fullName|email|personalid|status|tags|notes|isTicketOpen|field\d\d)$/.test(name),
);

const { field: ofTrigger, group: triggerGroup } = settableOf<ChatbotTrigger>();

const triggerRule = triggerGroup({
  active: ofTrigger('active', flag, Flag('True if the trigger is active; true if absent')),
  type: ofTrigger(
    'type',
    OneOf(['agent', 'quickreply']),
    OneOf(triggerTypes, { description: 'Kind of answer: by an agent or a quick reply. Flows do not exist' }),
    {
      show: (type) => (type === 'quickReply' ? 'quickreply' : 'agent'),
      take: (given) => (given === 'quickreply' ? 'quickReply' : 'agent'),
    },
  ),
  agent_id: ofTrigger('agentId', text, LooseText(60, 'The agent, of type agent'), trim),
  quickReply_id: ofTrigger('quickReplyId', text, LooseText(60, 'The quick reply, of type quickreply'), trim),
  ignoreGroups: ofTrigger('ignoreGroups', flag, Flag('Ignores groups; true if absent')),
  lead_field: ofTrigger('leadField', text, OneOf(['', ...comparable], { description: 'Lead field that is compared; empty for none' })),
  lead_operator: ofTrigger('leadOperator', OneOf(leadOperators), OneOf(leadOperators, { description: 'Operator of the comparison' })),
  lead_value: ofTrigger('leadValue', text, Text(2_000, 'Value of the comparison')),
  priority: ofTrigger(
    'priority',
    whole,
    Count(-1_000_000, 1_000_000, 'Priority; of several matching triggers, the one with the largest value answers'),
  ),
  wordsToStart: ofTrigger(
    'words',
    text,
    Text(5_000, 'Words or phrases, separated by bars: one of them has to stand in the text. Empty: every text'),
    trim,
  ),
  responseDelay_seconds: ofTrigger('delaySeconds', whole, Count(0, 3_600, 'Seconds from the last text to the answer')),
});

const trigger = fieldsOf<Kept<'chatbotTrigger'> & Owned>()({
  id: [text, ({ id }) => id],
  ...triggerRule.rows,
  owner: [text, ({ owner }) => owner],
  created: [text, ({ created }) => timeText(created)],
  updated: [text, ({ updated }) => timeText(updated)],
});

export const triggerFields = trigger.schemas;

/** The schemas of the fields that a body may have. */
export const triggerBody = { ...triggerRule.taken, flow_id: optional(LooseText(60, 'There are no flows')) };

/** Makes the change of a trigger that a body requests. */
export const triggerChange = triggerRule.change;

export const triggerView = (record: Kept<'chatbotTrigger'>, owner: string) => trigger.view({ ...record, owner });

export const aiMetadataView = ({ agentId, request, response }: AiMetadata) => ({ agent_id: agentId, request, response });

const names = {
  disabledUntil: 'chatbot_disableUntil',
  memoryResetAt: 'chatbot_agentResetMemoryAt',
  lastTriggerAt: 'chatbot_lastTriggerAt',
  lastTriggerId: 'chatbot_lastTrigger_id',
  // Fields that are stored with the chat but are not part of the interface.
  answersDay: 'chatbot_answersDay',
  answersCount: 'chatbot_answersCount',
} as const satisfies Readonly<Record<keyof ChatbotState, string>>;

/**
 * The bound between seconds and milliseconds. Smaller values are seconds, as in the example of the interface. In milliseconds they would be times before 1973.
 */
const firstMilliseconds = 1e11;

const momentOf = (value: unknown): number => {
  const given = typeof value === 'number' ? value : 0;
  return given < firstMilliseconds ? given * 1000 : given;
};

const times: ReadonlySet<string> = new Set(['disabledUntil', 'memoryResetAt', 'lastTriggerAt']);

const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Returns the stored form of a value; null for an empty value, which is not stored. */
const kept = (name: string, value: unknown): unknown => {
  if (value === 0 || value === '') return null;
  return times.has(name) ? Math.ceil(Number(value) / 1000) : value;
};

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** The port `ChatbotFields` of the actors. */
export const chatbotFields = {
  stateOf: (chat: Pick<Chat, 'extra'> | null) => {
    const { [names.lastTriggerId]: id, ...rest } = chat?.extra ?? {};
    return {
      disabledUntil: momentOf(rest[names.disabledUntil]),
      memoryResetAt: momentOf(rest[names.memoryResetAt]),
      lastTriggerAt: momentOf(rest[names.lastTriggerAt]),
      lastTriggerId: typeof id === 'string' ? id : '',
      answersDay: countOf(rest[names.answersDay]),
      answersCount: countOf(rest[names.answersCount]),
    };
  },
  fieldsOf: ({ ticketOpen, ...state }: Partial<ChatbotState> & { readonly ticketOpen?: boolean }) => ({
    ...Object.fromEntries(Object.entries(state).map(([name, value]) => [names[name as keyof ChatbotState], kept(name, value)])),
    ...(ticketOpen === undefined ? {} : { lead_isTicketOpen: ticketOpen || null }),
  }),
  leadText: (chat: Pick<Chat, 'extra'> | null, field: string) => textOf(chat?.extra[field]),
};
