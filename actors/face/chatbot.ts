/** What the gateway offers on the chatbot: its agents and its triggers. Its settings are fields of the instance. */
import type { ChatbotAgent, ChatbotTrigger, InstanceId, Kept, Result } from '../model.ts';

/** `id`: '' makes one. What is absent stays as it is. */
export interface AgentEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotAgent, 'id'>>;
  /** '' takes the key away. */
  readonly key?: string;
}

export interface AgentView {
  readonly agent: Kept<'chatbotAgent'>;
  readonly hasKey: boolean;
}

/** `id`: '' makes one. What is absent stays as it is. */
export interface TriggerEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotTrigger, 'id'>>;
}

export interface ChatbotFace {
  agents(id: InstanceId): Promise<readonly AgentView[]>;
  /** Makes, changes or deletes an agent, with the triggers that lead to it. Refused: `notFound`, `invalid` for what an agent cannot be, `limited` beyond the most agents. */
  editAgent(id: InstanceId, edit: AgentEdit): Promise<Result<AgentView & { readonly made: boolean }>>;
  triggers(id: InstanceId): Promise<readonly Kept<'chatbotTrigger'>[]>;
  /** Makes, changes or deletes a trigger. Refused: `notFound`, `invalid` for one that leads to nothing, `limited` beyond the most triggers. */
  editTrigger(id: InstanceId, edit: TriggerEdit): Promise<Result<{ readonly trigger: Kept<'chatbotTrigger'>; readonly made: boolean }>>;
}
