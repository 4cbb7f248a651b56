/** The rules that choose the trigger for a text, and that end a conversation. Pure functions. */
import type { ChatbotAgent, ChatbotState, ChatbotTrigger } from '../model.ts';

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

/** Returns true if the text is the keyword. Case and spaces are ignored. */
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

export interface Occasion {
  readonly text: string;
  readonly isGroup: boolean;
  readonly state: ChatbotState;
  /** Returns the value of a lead field. */
  readonly lead: (field: string) => string;
  readonly now: number;
}

export interface Cast {
  readonly agents: readonly ChatbotAgent[];
  readonly triggers: readonly ChatbotTrigger[];
}

const hourMs = 3_600_000;

/**
 * Returns the trigger that answers, or null. A trigger with a word in the text wins. Then comes the trigger that led the conversation so far, as long
 * as its agent remembers it. Triggers for every text come last. Among equals the largest priority wins.
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

/** True for chats of people and groups. False for channels, status posts and broadcast lists. */
export const isAnswerable = (chatId: string): boolean => /@(?:s\.whatsapp\.net|lid|g\.us)$/.test(chatId);
