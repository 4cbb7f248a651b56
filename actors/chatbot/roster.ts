/** Agents, triggers and keys of instances in memory: read when they are needed first, and again after a change. */
import type { ChatbotAgent, ChatbotTrigger, InstanceId } from '../model.ts';
import type { AgentKey, ChatModels, Ports } from '../ports.ts';

export interface Crew {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
  /** By agent. */
  readonly keys: ReadonlyMap<string, AgentKey>;
}

/**
 * The key with which an agent asks; '' for none. A stored key goes to the origin for which it was given, and that of the instance (`shared`) to the
 * address of a provider alone: who may change an agent must not learn its key by another address.
 */
export function keyFor(agent: ChatbotAgent, own: AgentKey | undefined, shared: string, models: Pick<ChatModels, 'originOf'>): string {
  if (own === undefined) return agent.baseUrl === '' ? shared : '';
  return own.service === null || models.originOf(own.service) === models.originOf(agent) ? own.key : '';
}

export class Roster {
  readonly #ports: Pick<Ports, 'definitions' | 'chatbots'>;
  /** One entry for each instance whose chatbot was needed. */
  readonly #crews = new Map<InstanceId, Promise<Crew>>();

  constructor(ports: Pick<Ports, 'definitions' | 'chatbots'>) {
    this.#ports = ports;
  }

  of(instance: InstanceId): Promise<Crew> {
    const known = this.#crews.get(instance);
    if (known) return known;
    const crew = this.#read(instance);
    this.#crews.set(instance, crew);
    // What could not be read is read again at the next question.
    crew.catch(() => this.#crews.get(instance) === crew && this.#crews.delete(instance));
    return crew;
  }

  /** Something of it was changed. */
  forget(instance: InstanceId): void {
    this.#crews.delete(instance);
  }

  async #read(instance: InstanceId): Promise<Crew> {
    const { definitions, chatbots } = this.#ports;
    const [agents, triggers, keys] = await Promise.all([
      definitions.all(instance, 'chatbotAgent'),
      definitions.all(instance, 'chatbotTrigger'),
      chatbots.keys(instance),
    ]);
    return { agents, triggers, keys };
  }
}
