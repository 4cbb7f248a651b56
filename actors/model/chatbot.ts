/** The chatbot: agents that answer, and triggers that start an agent or a quick reply. */
import type { MediaKind } from './content.ts';

/** The services that an agent can use. All of them use the chat completions protocol of OpenAI. `custom`: another service with this protocol. */
export const agentProviders = ['openai', 'anthropic', 'gemini', 'deepseek', 'custom'] as const;

type AgentProvider = (typeof agentProviders)[number];

/** The actions that the model of an agent may call. */
export const agentTools = ['setLeadField', 'addLabel', 'handOver', 'sendMedia'] as const;

export type AgentTool = (typeof agentTools)[number];

/** A file that an agent may send. */
export interface AgentMedia {
  /** The name by which the model requests the file; unique in the list of its agent. */
  readonly name: string;
  /** A description of the content, for the model. */
  readonly description: string;
  readonly as: MediaKind;
  /** URL of the file. */
  readonly file: string;
}

/** An agent without its API key. The key is stored separately and sealed. */
export interface ChatbotAgent {
  readonly id: string;
  readonly name: string;
  readonly provider: AgentProvider;
  /** Base address of the service; '' for the default address of the provider. */
  readonly baseUrl: string;
  readonly model: string;
  /** The system prompt. */
  readonly prompt: string;
  /** The limit of tokens in one answer; 0 for the gateway's own limit. */
  readonly maxTokens: number;
  /** The options of the model, in percent: 100 is 1.0 in the protocol. Null for the provider's default. `diversity` is `top_p`. */
  readonly temperature: number | null;
  readonly diversity: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  /** True if the agent's name is shown above its answers. */
  readonly signMessages: boolean;
  /** True if messages are marked as read when the agent answers them. */
  readonly readMessages: boolean;
  /** The largest length of one message; 0 for no limit. In characters. A longer answer is split into several messages. */
  readonly maxMessageLength: number;
  /** The time of typing before each message. In seconds. */
  readonly typingSeconds: number;
  /** The messages that the agent remembers: those of the last `memoryHours` hours, but at least `memoryLeast` of any age and at most `memoryMost`. */
  readonly memoryHours: number;
  readonly memoryMost: number;
  readonly memoryLeast: number;
  readonly tools: readonly AgentTool[];
  readonly media: readonly AgentMedia[];
  /** The time after a hand-over to a person in which the chatbot does not answer. In minutes. */
  readonly handOverMinutes: number;
}

export const triggerTypes = ['agent', 'quickReply'] as const;

type TriggerType = (typeof triggerTypes)[number];

export const leadOperators = ['equals', 'not_equals', 'contains', 'not_contains', 'greater', 'less', 'empty', 'not_empty'] as const;

type LeadOperator = (typeof leadOperators)[number];

/** A rule that starts an answer: the condition, and the agent or quick reply that answers. */
export interface ChatbotTrigger {
  readonly id: string;
  readonly active: boolean;
  readonly type: TriggerType;
  /** The agent that answers, for type `agent`. */
  readonly agentId: string;
  /** The quick reply that is sent, for type `quickReply`. */
  readonly quickReplyId: string;
  readonly ignoreGroups: boolean;
  /** API name of the lead field that is compared; '' for none. */
  readonly leadField: string;
  readonly leadOperator: LeadOperator;
  readonly leadValue: string;
  /** The rank among matching triggers. The highest priority wins. */
  readonly priority: number;
  /** Words or phrases, separated by `|`. The text must contain one of them; '' matches every text. */
  readonly words: string;
  /** The pause between the last text and the answer, in seconds. The pause of the gateway applies if it is longer. */
  readonly delaySeconds: number;
}

/** The default values of an agent. */
export const newAgent: Omit<ChatbotAgent, 'id'> = {
  name: '',
  provider: 'openai',
  baseUrl: '',
  model: '',
  prompt: '',
  maxTokens: 0,
  temperature: null,
  diversity: null,
  frequencyPenalty: null,
  presencePenalty: null,
  signMessages: false,
  readMessages: false,
  maxMessageLength: 0,
  typingSeconds: 0,
  memoryHours: 24,
  memoryMost: 20,
  memoryLeast: 0,
  tools: [],
  media: [],
  handOverMinutes: 60,
};

/** The default values of a trigger. */
export const newTrigger: Omit<ChatbotTrigger, 'id'> = {
  active: true,
  type: 'agent',
  agentId: '',
  quickReplyId: '',
  ignoreGroups: true,
  leadField: '',
  leadOperator: 'equals',
  leadValue: '',
  priority: 0,
  words: '',
  delaySeconds: 0,
};

/** The chatbot's state of a conversation. A time is 0 for never. Times in Unix milliseconds. */
export interface ChatbotState {
  readonly disabledUntil: number;
  /** The agent does not remember messages that are older than this time. */
  readonly memoryResetAt: number;
  readonly lastTriggerAt: number;
  readonly lastTriggerId: string;
  /** The day of the last answer, in days since 1970. `answersCount` counts the answers of that day. */
  readonly answersDay: number;
  readonly answersCount: number;
}

/** The request to the model and its response, from which a message of an agent came, in the form of the chat completions protocol. Lacks the API key. */
export interface AiMetadata {
  readonly agentId: string;
  readonly request: {
    readonly messages: readonly unknown[];
    readonly tools: readonly unknown[];
    readonly options: Readonly<Record<string, string | number>>;
  };
  readonly response: { readonly choices: readonly unknown[]; readonly toolResults: readonly unknown[]; readonly error: string };
}

/** Returns true if the text can be sent as an API key in a header. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** The largest length of one message that the gateway sends. In characters. */
export const longestText = 65_536;

/** Cuts the text to at most `most` characters. A shortened text ends with an ellipsis. */
export const cutText = (text: string, most: number): string => {
  if (text.length <= most) return text;
  // A cut must not separate the two halves of a surrogate pair.
  const half = /[\uD800-\uDBFF]/.test(text[most - 2] ?? '');
  return `${text.slice(0, Math.max(0, most - (half ? 2 : 1)))}…`;
};

const sentenceEnd = /[.!?…]["')\]*_]*(?=\s)|[。！？]|\n/g;

/** Removes the unfinished sentence at the end of the text. Returns the text unchanged if two thirds or more would be removed. */
export const wholeSentences = (text: string): string => {
  const trimmed = text.trimEnd();
  // The added space lets the pattern match a sentence at the very end.
  const ends = [...`${trimmed} `.matchAll(sentenceEnd)].map((match) => match.index + match[0].length);
  const at = ends.at(-1) ?? 0;
  return at > trimmed.length / 3 ? trimmed.slice(0, at).trimEnd() : text;
};

/** Cuts the text to at most `most` characters, at the end of a sentence if possible. Otherwise the text ends with an ellipsis. */
export const cutAtSentence = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  const whole = wholeSentences(head);
  return whole.length < head.length ? whole : cutText(text, most);
};
