/** Agents, triggers and keys of instances in memory: read when they are needed first, and again after a change. */
import type { ChatbotAgent, ChatbotTrigger, InstanceId } from '../model.ts';
import type { Ports } from '../ports.ts';

export interface Crew {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
  /** By agent. */
  readonly keys: ReadonlyMap<string, string>;
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
