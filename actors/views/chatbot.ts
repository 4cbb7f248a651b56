/** Gateway methods for agents and triggers of the chatbot. The chatbot's settings are fields of the instance. */
import type { ChatbotAgent, ChatbotTrigger, InstanceId, Kept, Result } from '../model.ts';

/** A change of an agent. `id`: '' creates an agent. Absent fields keep their values. */
export interface AgentEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotAgent, 'id'>>;
  /** The API key; '' removes the key. */
  readonly key?: string;
}

export interface AgentView {
  readonly agent: Kept<'chatbotAgent'>;
  readonly hasKey: boolean;
}

/** A change of a trigger. `id`: '' creates a trigger. Absent fields keep their values. */
export interface TriggerEdit {
  readonly id: string;
  readonly delete: boolean;
  readonly fields: Partial<Omit<ChatbotTrigger, 'id'>>;
}

export interface ChatbotFace {
  agents(id: InstanceId): Promise<readonly AgentView[]>;
  /**
   * Creates, changes or deletes an agent. A deletion includes the triggers of the agent. Refuses with `notFound`, `invalid` or, beyond the limit of
   * agents, `limited`.
   */
  editAgent(id: InstanceId, edit: AgentEdit): Promise<Result<AgentView & { readonly made: boolean }>>;
  triggers(id: InstanceId): Promise<readonly Kept<'chatbotTrigger'>[]>;
  /**
   * Creates, changes or deletes a trigger. Refuses with `notFound`, with `invalid` for a trigger without a target, or with `limited` beyond the limit
   * of triggers.
   */
  editTrigger(id: InstanceId, edit: TriggerEdit): Promise<Result<{ readonly trigger: Kept<'chatbotTrigger'>; readonly made: boolean }>>;
}
