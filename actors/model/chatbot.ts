/** The chatbot: agents that answer, and the triggers that say when. */
import type { MediaKind } from './content/media.ts';

/** Whose service an agent asks. All of them speak the form of OpenAI's chat completions; `custom` is any other that does. */
export const agentProviders = ['openai', 'anthropic', 'gemini', 'deepseek', 'custom'] as const;

export type AgentProvider = (typeof agentProviders)[number];

/** What an agent may do beside answering. */
export const agentTools = ['setLeadField', 'addLabel', 'handOver', 'sendMedia'] as const;

export type AgentTool = (typeof agentTools)[number];

/** A file that an agent may send. */
export interface AgentMedia {
  /** By which the model asks for it; unique in the list of its agent. */
  readonly name: string;
  /** What it shows, for the model. */
  readonly description: string;
  readonly as: MediaKind;
  /** Its address. */
  readonly file: string;
}

/** An agent without its key, which is kept apart and sealed. */
export interface ChatbotAgent {
  readonly id: string;
  readonly name: string;
  readonly provider: AgentProvider;
  /** Base address of the service; '' for the provider's own. */
  readonly baseUrl: string;
  readonly model: string;
  /** What the model is to be and to do: the system prompt. */
  readonly prompt: string;
  /** Of one answer; 0: the bound of the gateway. */
  readonly maxTokens: number;
  /** Percent: 100 is 1.0 in the protocol. Null: the provider's usual value. */
  readonly temperature: number | null;
  readonly diversity: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  /** The agent's name stands above its answers. */
  readonly signMessages: boolean;
  /** What it answers to is marked as read. */
  readonly readMessages: boolean;
  /** Characters of one message, a longer answer is several; 0: one message. */
  readonly maxMessageLength: number;
  /** Seconds of typing before each message. */
  readonly typingSeconds: number;
  /** Messages of the last hours are its memory: at least `memoryLeast` of them whatever their age, at most `memoryMost`. */
  readonly memoryHours: number;
  readonly memoryMost: number;
  readonly memoryLeast: number;
  readonly tools: readonly AgentTool[];
  readonly media: readonly AgentMedia[];
  /** Minutes for which a conversation is a person's after it was handed over. */
  readonly handOverMinutes: number;
}

export const triggerTypes = ['agent', 'quickReply'] as const;

export type TriggerType = (typeof triggerTypes)[number];

export const leadOperators = ['equals', 'not_equals', 'contains', 'not_contains', 'greater', 'less', 'empty', 'not_empty'] as const;

export type LeadOperator = (typeof leadOperators)[number];

/** When a conversation is answered, and by what. */
export interface ChatbotTrigger {
  readonly id: string;
  readonly active: boolean;
  readonly type: TriggerType;
  /** Of type `agent`. */
  readonly agentId: string;
  /** Of type `quickReply`. */
  readonly quickReplyId: string;
  readonly ignoreGroups: boolean;
  /** API name of a lead field that is compared; '' for none. */
  readonly leadField: string;
  readonly leadOperator: LeadOperator;
  readonly leadValue: string;
  /** The largest that fits counts. */
  readonly priority: number;
  /** Words or phrases of which one has to stand in the text, separated by `|`; '' for every text. */
  readonly words: string;
  /** Seconds between the last text and the answer, where that is more than the pause of the gateway. */
  readonly delaySeconds: number;
}

/** What an agent is where nothing else is asked for. */
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

/** What a trigger is where nothing else is asked for. */
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

/** What the chatbot knows of a conversation. Unix milliseconds; 0 for never. */
export interface ChatbotState {
  readonly disabledUntil: number;
  /** What was written before it is not remembered. */
  readonly memoryResetAt: number;
  readonly lastTriggerAt: number;
  readonly lastTriggerId: string;
  /** Days since 1970 of the last answer, and how many answers that day had so far. */
  readonly answersDay: number;
  readonly answersCount: number;
}

/** What a message that an agent wrote tells of how it came about, without any key. Plain data in the form of the protocol. */
export interface AiMetadata {
  readonly agentId: string;
  readonly request: {
    readonly messages: readonly unknown[];
    readonly tools: readonly unknown[];
    readonly options: Readonly<Record<string, string | number>>;
  };
  readonly response: { readonly choices: readonly unknown[]; readonly toolResults: readonly unknown[]; readonly error: string };
}

/** Whether a text can be a key of a service: what a header can carry. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** Characters of one message, as for everybody who sends texts. */
export const longestText = 65_536;

/** The text in at most `most` characters; where something is missing it ends with an ellipsis. */
export const cutText = (text: string, most: number): string => {
  if (text.length <= most) return text;
  // Not between the two halves of a character.
  const half = /[\uD800-\uDBFF]/.test(text[most - 2] ?? '');
  return `${text.slice(0, Math.max(0, most - (half ? 2 : 1)))}…`;
};

const sentenceEnd = /[.!?…]["')\]*_]*(?=\s)|[。！？]|\n/g;

/** The text without what stands after its last whole sentence; unchanged when that would take more than two thirds of it. */
export const wholeSentences = (text: string): string => {
  const trimmed = text.trimEnd();
  // The text may end with a sentence.
  const ends = [...`${trimmed} `.matchAll(sentenceEnd)].map((match) => match.index + match[0].length);
  const at = ends.at(-1) ?? 0;
  return at > trimmed.length / 3 ? trimmed.slice(0, at).trimEnd() : text;
};

/** The text in at most `most` characters, cut at the end of a sentence where there is one, else with an ellipsis. */
export const cutAtSentence = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const head = text.slice(0, most);
  const whole = wholeSentences(head);
  return whole.length < head.length ? whole : cutText(text, most);
};
