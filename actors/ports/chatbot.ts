/** What the chatbot needs of the world: what is kept for it, the model that is asked, and the interface's names of its fields. */
import type { AgentMedia, AgentTool, AiMetadata, Chat, ChatbotAgent, ChatbotState, Claim, InstanceId, Result } from '../model.ts';

/** A chat whose last message is not the account's. */
export interface PendingConversation {
  readonly chatId: string;
}

/** Keys of agents, and tokens that were used. Writes reject with `EpochLost` for a former owner. */
/** What says which service an agent asks. */
export type AgentService = Pick<ChatbotAgent, 'provider' | 'baseUrl'>;

/** The key of an agent, and the service for which it was given. Null: a node of the last release stored the key. */
export interface AgentKey {
  readonly key: string;
  readonly service: AgentService | null;
}

export interface ChatbotStore {
  /** Keys by their agents; an agent without a key is left out. */
  keys(instance: InstanceId): Promise<ReadonlyMap<string, AgentKey>>;
  /** '' removes the key. It is sealed before it reaches a statement, and belongs to the service of this agent. */
  saveKey(claim: Claim, agent: Pick<ChatbotAgent, 'id'> & AgentService, key: string): Promise<void>;
  /** Tokens that the instance used on a day, such as `2026-08-19`. */
  tokens(instance: InstanceId, day: string): Promise<number>;
  /** Days before this one are forgotten. */
  addTokens(claim: Claim, day: string, tokens: number): Promise<void>;
  /** Chats with a message since a moment in Unix milliseconds, of which the last one is not the account's; the latest first. */
  unanswered(instance: InstanceId, since: number, limit: number): Promise<readonly PendingConversation[]>;
}

/** The names that the interface has for what the chatbot knows of a chat and of its lead. Pure. */
export interface ChatbotFields {
  stateOf(chat: Pick<Chat, 'extra'> | null): ChatbotState;
  /** Fields of `Chat.extra` that say so. `ticketOpen`: a person is to look at the chat. */
  fieldsOf(change: Partial<ChatbotState> & { readonly ticketOpen?: boolean }): Readonly<Record<string, unknown>>;
  /** The value of a lead field as text, '' when it has none. */
  leadText(chat: Pick<Chat, 'extra'> | null, field: string): string;
}

/** A tool that a model wants to use, as it wrote it. */
export interface ToolWish {
  readonly id: string;
  readonly name: string;
  /** JSON, as far as the model got it right. */
  readonly arguments: string;
}

/** One part of a conversation, as a model reads it. */
export type Turn =
  | { readonly by: 'user'; readonly text: string }
  | { readonly by: 'assistant'; readonly text: string; readonly wishes: readonly ToolWish[] }
  | { readonly by: 'tool'; readonly wish: string; readonly text: string };

export interface ModelQuestion {
  readonly agent: ChatbotAgent;
  /** '' for a service that asks for none. */
  readonly key: string;
  /** The system prompt. */
  readonly prompt: string;
  readonly turns: readonly Turn[];
  /** Tokens of the answer at most. */
  readonly maxTokens: number;
  /** Names of labels that the agent may add. */
  readonly labels: readonly string[];
}

export type ModelAnswer =
  | {
      readonly ok: true;
      readonly text: string;
      readonly wishes: readonly ToolWish[];
      /** Of the question and the answer; estimated where the service does not tell. */
      readonly tokens: number;
      /** As they were asked and answered, without the key. */
      readonly request: AiMetadata['request'];
      readonly choices: readonly unknown[];
    }
  | {
      readonly ok: false;
      /** A sentence without the service's own words, which may repeat a part of the key. */
      readonly error: string;
      /** `busy`: it may work soon. `setup`: not before somebody changes the agent. `question`: it refuses this question. */
      readonly cause: 'busy' | 'setup' | 'question';
      /** Seconds. */
      readonly retryAfter?: number;
    };

/** What a model may want to be done, after validation. */
export type ToolCall =
  | { readonly tool: 'setLeadField'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly tool: 'addLabel'; readonly label: string }
  | { readonly tool: 'handOver'; readonly reason: string }
  | { readonly tool: 'sendMedia'; readonly media: AgentMedia; readonly caption: string };

/** The services that agents ask. */
export interface ChatModels {
  /** Why an agent's base address cannot be used, as a sentence; null when nothing speaks against it. */
  objection(agent: AgentService): string | null;
  /** Scheme, host and port of the service. Never throws for what has no `objection`. */
  originOf(agent: AgentService): string;
  /** Asks once, without retries. Ends soon after the signal aborts. Never rejects. */
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>;
  /** Reads what a model wrote as the call of a tool. Refused (`invalid`) for a tool that the agent may not use, and for arguments that do not fit it. */
  toolCall(question: Pick<ModelQuestion, 'agent' | 'labels'>, wish: ToolWish): Result<ToolCall & { readonly tool: AgentTool }>;
}
