/** The chatbot as the interface spells it: its agents, its triggers, and what it knows of a chat. */
import type { AiMetadata, Chat, ChatbotState, Kept } from '#actors/model.ts';
import { timeText } from './formats.ts';

/** Stands in answers for a key that is there; given back it leaves the key as it is. */
export const maskedKey = '********';

export const keyView = (isThere: boolean): string => (isThere ? maskedKey : '');

/** The key that a client gives; undefined: it stays as it is. */
export const givenKey = (text: string | undefined): string | undefined => (text === maskedKey ? undefined : text?.trim());

export const agentView = (agent: Kept<'chatbotAgent'>, hasKey: boolean, owner: string) => ({
  id: agent.id,
  name: agent.name,
  provider: agent.provider,
  baseUrl: agent.baseUrl,
  model: agent.model,
  apikey: keyView(hasKey),
  basePrompt: agent.prompt,
  maxTokens: agent.maxTokens,
  temperature: agent.temperature,
  diversityLevel: agent.diversity,
  frequencyPenalty: agent.frequencyPenalty,
  presencePenalty: agent.presencePenalty,
  signMessages: agent.signMessages,
  readMessages: agent.readMessages,
  maxMessageLength: agent.maxMessageLength,
  typingDelay_seconds: agent.typingSeconds,
  contextTimeWindow_hours: agent.memoryHours,
  contextMaxMessages: agent.memoryMost,
  contextMinMessages: agent.memoryLeast,
  tools: agent.tools,
  media: agent.media.map(({ name, description, as, file }) => ({ name, description, type: as, file })),
  handOver_minutes: agent.handOverMinutes,
  owner,
  created: timeText(agent.created),
  updated: timeText(agent.updated),
});

/** Types of triggers as the interface names them. */
export const triggerTypeNames = { agent: 'agent', quickreply: 'quickReply' } as const;

export const triggerView = (trigger: Kept<'chatbotTrigger'>, owner: string) => ({
  id: trigger.id,
  active: trigger.active,
  type: trigger.type === 'quickReply' ? ('quickreply' as const) : ('agent' as const),
  agent_id: trigger.agentId,
  quickReply_id: trigger.quickReplyId,
  ignoreGroups: trigger.ignoreGroups,
  lead_field: trigger.leadField,
  lead_operator: trigger.leadOperator,
  lead_value: trigger.leadValue,
  priority: trigger.priority,
  wordsToStart: trigger.words,
  responseDelay_seconds: trigger.delaySeconds,
  owner,
  created: timeText(trigger.created),
  updated: timeText(trigger.updated),
});

export const aiMetadataView = ({ agentId, request, response }: AiMetadata) => ({ agent_id: agentId, request, response });

const names = {
  disabledUntil: 'chatbot_disableUntil',
  memoryResetAt: 'chatbot_agentResetMemoryAt',
  lastTriggerAt: 'chatbot_lastTriggerAt',
  lastTriggerId: 'chatbot_lastTrigger_id',
  // Not fields of the interface: kept with the chat, and not shown.
  answersDay: 'chatbot_answersDay',
  answersCount: 'chatbot_answersCount',
} as const satisfies Readonly<Record<keyof ChatbotState, string>>;

/** Times before this one, in the year 5138, are seconds, as in the interface's own example; larger ones are milliseconds. */
const firstMilliseconds = 1e11;

const momentOf = (value: unknown): number => {
  const given = typeof value === 'number' ? value : 0;
  return given < firstMilliseconds ? given * 1000 : given;
};

const times: ReadonlySet<string> = new Set(['disabledUntil', 'memoryResetAt', 'lastTriggerAt']);

const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** An empty value is not kept. */
const kept = (name: string, value: unknown): unknown => {
  if (value === 0 || value === '') return null;
  return times.has(name) ? Math.ceil(Number(value) / 1000) : value;
};

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** A port of the actors: see `ChatbotFields` there. */
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
