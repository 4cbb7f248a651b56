/** Ports of the chatbot: its storage, the model services, and the field names of the interface. */
import type { AgentMedia, AgentTool, AiMetadata, Chat, ChatbotAgent, ChatbotState, Claim, InstanceId, Result } from '../model.ts';

/** A chat whose last message is not from the account. */
export interface PendingConversation {
  readonly chatId: string;
}

/** The service that an agent uses. */
export type AgentService = Pick<ChatbotAgent, 'provider' | 'baseUrl'>;

/** The API key of an agent, and the service to which the key belongs. `service` is null if a node of the previous release stored the key. */
export interface AgentKey {
  readonly key: string;
  readonly service: AgentService | null;
}

/** The number of tokens that an instance used on one UTC day, such as `2026-08-19`. */
export interface DayTokens {
  readonly day: string;
  readonly tokens: number;
}

/** Storage of API keys and used tokens. Writes reject with `EpochLost` for a former owner. */
export interface ChatbotStore {
  /** Returns the keys by agent. Agents without a key are left out. */
  keys(instance: InstanceId): Promise<ReadonlyMap<string, AgentKey>>;
  /** Stores the key of an agent for its current service; '' removes the key. The key is sealed before it reaches an SQL statement. */
  saveKey(claim: Claim, agent: Pick<ChatbotAgent, 'id'> & AgentService, key: string): Promise<void>;
  /** Returns the number of tokens that the instance used on a day, such as `2026-08-19`. */
  tokens(instance: InstanceId, day: string): Promise<number>;
  /** Returns the days on which the instance used tokens, the latest first. */
  usage(instance: InstanceId): Promise<readonly DayTokens[]>;
  /** Adds to the number of tokens of a day. Deletes the numbers of days that are more than 31 days earlier. */
  addTokens(claim: Claim, day: string, tokens: number): Promise<void>;
  /** Returns chats with a message since a time (Unix milliseconds) whose last message is not from the account, the latest first. */
  unanswered(instance: InstanceId, since: number, limit: number): Promise<readonly PendingConversation[]>;
}

/** Converts between `Chat.extra`, whose keys are API field names, and the chatbot state and lead fields. Pure. */
export interface ChatbotFields {
  stateOf(chat: Pick<Chat, 'extra'> | null): ChatbotState;
  /** Returns the fields of `Chat.extra` for a change of state. `ticketOpen`: a person has to look at the chat. */
  fieldsOf(change: Partial<ChatbotState> & { readonly ticketOpen?: boolean }): Readonly<Record<string, unknown>>;
  /** Returns the value of a lead field as text; '' if the field has no value. */
  leadText(chat: Pick<Chat, 'extra'> | null, field: string): string;
}

/** A tool call as the model wrote it. */
export interface ToolWish {
  readonly id: string;
  readonly name: string;
  /** JSON. The model may have written invalid JSON. */
  readonly arguments: string;
}

/** One part of a conversation, as a model reads it. */
export type ModelMessage =
  | { readonly by: 'user'; readonly text: string }
  | { readonly by: 'assistant'; readonly text: string; readonly wishes: readonly ToolWish[] }
  | { readonly by: 'tool'; readonly wish: string; readonly text: string };

export interface ModelQuestion {
  readonly agent: ChatbotAgent;
  /** The API key; '' for a service that needs none. */
  readonly key: string;
  /** The system prompt. */
  readonly prompt: string;
  readonly dialogue: readonly ModelMessage[];
  /** The limit of tokens in the answer. */
  readonly maxTokens: number;
  /** Names of labels that the agent may add. */
  readonly labels: readonly string[];
}

export type ModelAnswer =
  | {
      readonly ok: true;
      readonly text: string;
      readonly wishes: readonly ToolWish[];
      /** Tokens of the question and the answer. Estimated if the service reports none. */
      readonly tokens: number;
      /** The request and the choices of the protocol, without the key. */
      readonly request: AiMetadata['request'];
      readonly choices: readonly unknown[];
    }
  | {
      readonly ok: false;
      /** A sentence without text from the service, because that text may repeat a part of the key. */
      readonly error: string;
      /** `busy`: a retry may work soon. `setup`: the agent must be changed first. `question`: the service refuses this question. */
      readonly cause: 'busy' | 'setup' | 'question';
      /** The time until a retry may work. In seconds. */
      readonly retryAfter?: number;
    };

/** A validated tool call of a model. */
export type ToolCall =
  | { readonly tool: 'setLeadField'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly tool: 'addLabel'; readonly label: string }
  | { readonly tool: 'handOver'; readonly reason: string }
  | { readonly tool: 'sendMedia'; readonly media: AgentMedia; readonly caption: string };

/** The model services that agents use. */
export interface ChatModels {
  /** Returns the reason why an agent's base address cannot be used, as a sentence; null if the address is valid. */
  objection(agent: AgentService): string | null;
  /** Returns scheme, host and port of the service. Never throws for a service without an `objection`. */
  originOf(agent: AgentService): string;
  /** Sends one request without retries. Resolves soon after the signal aborts. Never rejects. */
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>;
  /** Parses the tool call that a model wrote. Refuses (`invalid`) a tool that the agent may not use, and arguments that do not fit the tool. */
  toolCall(question: Pick<ModelQuestion, 'agent' | 'labels'>, wish: ToolWish): Result<ToolCall & { readonly tool: AgentTool }>;
}
