/** Caches agents, triggers and keys of instances. The data is read on first use, and again after a change. */
import type { ChatbotAgent, ChatbotTrigger, InstanceId } from '../model.ts';
import type { AgentKey, ChatModels, Ports } from '../ports.ts';

export interface Crew {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
  /** Keys by agent. */
  readonly keys: ReadonlyMap<string, AgentKey>;
}

/**
 * Returns the key with which an agent asks, or '' for none. A stored key goes only to the origin for which it was given. The key of the instance
 * (`shared`) goes only to the address of a provider. A client that may change an agent must not learn a key by setting another address.
 */
export function keyFor(agent: ChatbotAgent, own: AgentKey | undefined, shared: string, models: Pick<ChatModels, 'originOf'>): string {
  if (own === undefined) return agent.baseUrl === '' ? shared : '';
  return own.service === null || models.originOf(own.service) === models.originOf(agent) ? own.key : '';
}

export class Roster {
  readonly #ports: Pick<Ports, 'definitions' | 'chatbots'>;
  /** One entry for each instance whose chatbot was used. */
  readonly #crews = new Map<InstanceId, Promise<Crew>>();

  constructor(ports: Pick<Ports, 'definitions' | 'chatbots'>) {
    this.#ports = ports;
  }

  of(instance: InstanceId): Promise<Crew> {
    const known = this.#crews.get(instance);
    if (known) return known;
    const crew = this.#read(instance);
    this.#crews.set(instance, crew);
    // A failed read is repeated for the next question.
    crew.catch(() => this.#crews.get(instance) === crew && this.#crews.delete(instance));
    return crew;
  }

  /** Drops the cache of an instance after a change. */
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
