/** The rules that choose the trigger for a text, and that end a conversation. Pure functions. */
import type { ChatbotAgent, ChatbotState, ChatbotTrigger, InstanceId } from '../model.ts';
import type { AgentKey, ChatModels, Ports } from '../ports.ts';

const plain = (text: string): string => text.normalize('NFC').toLowerCase().trim().replaceAll(/\s+/g, ' ');

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Returns true if a phrase is in a text as whole words. Both texts are normalised. */
const stands = (phrase: string, text: string): boolean => {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + phrase.length])) return true;
  }
  return false;
};

/** Returns the phrases of a trigger. */
const phrasesOf = ({ words }: ChatbotTrigger): readonly string[] =>
  words
    .split('|')
    .map(plain)
    .filter((phrase) => phrase !== '');

/** Returns true if the text is the keyword. Case and the number of spaces do not matter. */
export const isStop = (text: string, keyword: string): boolean => plain(keyword) !== '' && plain(text) === plain(keyword);

const comparisons: Readonly<Record<ChatbotTrigger['leadOperator'], (value: string, wanted: string) => boolean>> = {
  equals: (value, wanted) => plain(value) === plain(wanted),
  not_equals: (value, wanted) => plain(value) !== plain(wanted),
  contains: (value, wanted) => plain(value).includes(plain(wanted)),
  not_contains: (value, wanted) => !plain(value).includes(plain(wanted)),
  greater: (value, wanted) => value !== '' && Number(value) > Number(wanted),
  less: (value, wanted) => value !== '' && Number(value) < Number(wanted),
  empty: (value) => value.trim() === '',
  not_empty: (value) => value.trim() !== '',
};

interface Occasion {
  readonly text: string;
  readonly isGroup: boolean;
  readonly state: ChatbotState;
  /** Returns the value of a lead field. */
  readonly lead: (field: string) => string;
  readonly now: number;
}

interface Cast {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
}

const hourMs = 3_600_000;

/**
 * Returns the trigger that answers, or null. A trigger wins if the text contains one of its phrases. The second choice is the trigger that answered last in the
 * conversation, as long as its agent remembers the conversation. Triggers without phrases come last. Among equals the largest priority wins.
 */
export const triggerFor = ({ agents, triggers }: Cast, { text, isGroup, state, lead, now }: Occasion): ChatbotTrigger | null => {
  const fitting = triggers
    .filter(
      (trigger) =>
        trigger.active &&
        !(isGroup && trigger.ignoreGroups) &&
        (trigger.leadField === '' || comparisons[trigger.leadOperator](lead(trigger.leadField), trigger.leadValue)) &&
        (trigger.type !== 'agent' || agents.some(({ id }) => id === trigger.agentId)),
    )
    .toSorted((a, b) => b.priority - a.priority);
  const given = plain(text);
  const leads = ({ id, type, agentId }: ChatbotTrigger): boolean => {
    const hours = agents.find((agent) => agent.id === agentId)?.memoryHours ?? 0;
    return type === 'agent' && id === state.lastTriggerId && now - state.lastTriggerAt < hours * hourMs;
  };
  return (
    fitting.find((trigger) => phrasesOf(trigger).some((phrase) => stands(phrase, given))) ??
    fitting.find(leads) ??
    fitting.find((trigger) => phrasesOf(trigger).length === 0) ??
    null
  );
};

/** Returns true for chats of people and groups. Returns false for channels, status posts and broadcast lists. */
export const isAnswerable = (chatId: string): boolean => /@(?:s\.whatsapp\.net|lid|g\.us)$/.test(chatId);

// Caches agents, triggers and keys of instances. The data is read on first use, and again after a change.

export interface Crew {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
  /** Keys by agent. */
  readonly keys: ReadonlyMap<string, AgentKey>;
}

/**
 * Returns the key for the requests of an agent, or '' for none. A stored key is sent only to the origin for which it was given. The key of the instance
 * (`shared`) is sent only to the address of a provider. Otherwise, a client that may change an agent could obtain a key by setting another address.
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
