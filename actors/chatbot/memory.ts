/** The data of an answer: the input of an agent, made of a chat, and the bounds of what a message keeps of the answer. Pure functions. */
import { type AiMetadata, type ChatbotAgent, cutText, type Message, wordsOf } from '../model.ts';
import type { ModelMessage } from '../ports.ts';

// Builds the input of an agent from a chat: its memory and the question, as one dialogue. Pure functions over messages in order, oldest first.

/** True for an edit of an earlier message in the list. That message already has the new text. */
const isEdit = ({ edited }: Message, at: number, all: readonly Message[]): boolean =>
  edited !== '' && all.findIndex(({ messageId }) => messageId === edited) < at && all.some(({ messageId }) => messageId === edited);

/** Returns the texts that wait for an answer. If no ids are given, these are all texts behind the last own message. */
export const questionIn = (all: readonly Message[], asked: readonly string[], oldest: number): readonly Message[] => {
  const behind = all.findLastIndex(({ fromMe }) => fromMe);
  return all.filter(
    (message, at) =>
      !message.fromMe &&
      (asked.length > 0 ? asked.includes(message.messageId) : at > behind) &&
      message.timestamp >= oldest &&
      message.status !== 'Deleted' &&
      wordsOf(message) !== '' &&
      !isEdit(message, at, all),
  );
};

const lost: ReadonlySet<string> = new Set(['Failed', 'Canceled', 'Deleted']);

/** Returns the line above the answers of an agent that signs. */
export const signatureOf = ({ name }: ChatbotAgent): string => `*${name}:*\n`;

const spoken = (message: Message, agent: ChatbotAgent): string => {
  const words = wordsOf(message) || (message.type === 'media' ? `[${message.mediaType}]` : '');
  const signature = signatureOf(agent);
  if (message.fromMe) return words.startsWith(signature) ? words.slice(signature.length) : words;
  return message.isGroup && words !== '' ? `${message.senderName || message.sender.split('@')[0]}: ${words}` : words;
};

const hourMs = 3_600_000;

/** Joins consecutive texts of one side to one message, because every model accepts that. */
export const joined = (texts: readonly { readonly by: 'user' | 'assistant'; readonly text: string }[]): readonly ModelMessage[] => {
  const dialogue: ModelMessage[] = [];
  for (const { by, text } of texts) {
    const last = dialogue.at(-1);
    if (last?.by === by) dialogue[dialogue.length - 1] = { ...last, text: `${last.text}\n${text}` };
    else dialogue.push(by === 'user' ? { by, text } : { by, text, wishes: [] });
  }
  return dialogue;
};

/** Returns the memory of the agent with the question at its end. */
export const dialogueOf = (
  all: readonly Message[],
  question: readonly Message[],
  { agent, resetAt, now }: { readonly agent: ChatbotAgent; readonly resetAt: number; readonly now: number },
): readonly ModelMessage[] => {
  const readable = all.filter(
    (message, at) =>
      message.timestamp > resetAt &&
      !lost.has(message.status) &&
      spoken(message, agent) !== '' &&
      !isEdit(message, at, all) &&
      !question.includes(message),
  );
  const recent = now - agent.memoryHours * hourMs;
  const room = Math.max(0, agent.memoryMost - question.length);
  const kept = readable.slice(readable.length - Math.min(room, readable.length));
  const remembered = kept.filter(({ timestamp }, at) => timestamp >= recent || kept.length - at <= agent.memoryLeast);
  return joined(
    [...remembered, ...question].map((message) => ({ by: message.fromMe ? 'assistant' : 'user', text: spoken(message, agent) })),
  );
};

/**
 * Splits a text into pieces of at most `most` characters. Each cut is at the end of a paragraph, a line, a sentence or a word if there is one. A
 * `most` of 0 means one piece. The last of `count` pieces holds the whole rest.
 */
export const piecesOf = (text: string, most: number, count = Infinity): readonly string[] => {
  const pieces: string[] = [];
  let rest = text.trim();
  if (most <= 0) return rest === '' ? [] : [rest];
  while (rest.length > most && pieces.length < count - 1) {
    const head = rest.slice(0, most + 1);
    const ends = ['\n\n', '\n', '. ', ' '].map((end) => ({ end, at: head.lastIndexOf(end) })).filter(({ at }) => at > 0);
    const cut = ends.find(({ at }) => at > most / 3) ?? ends.at(-1);
    // The cut must not separate the two halves of a surrogate pair.
    const hard = /[\uD800-\uDBFF]/.test(rest[most - 1] ?? '') && most > 1 ? most - 1 : most;
    const at = cut ? cut.at + (cut.end === '. ' ? 1 : 0) : hard;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
};

// Bounds the data that a message has about its answer. Pure functions.

/** Limits of one text and of one list in that data. In characters. */
const toldText = 8_000;
const toldList = 16_000;

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return cutText(value, toldText);
  if (Array.isArray(value)) return value.map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
};

/** Returns the first items that fit. */
const fitting = (list: readonly unknown[]): readonly unknown[] => {
  let room = toldList;
  return list.map(shortened).filter((one) => (room -= JSON.stringify(one).length) >= 0);
};

/** Bounds the metadata. The newest part of the memory is kept. */
export const boundedMetadata = ({ agentId, request, response }: AiMetadata): AiMetadata => ({
  agentId,
  request: { ...request, messages: fitting(request.messages.toReversed()).toReversed(), tools: fitting(request.tools) },
  response: { ...response, choices: fitting(response.choices), toolResults: fitting(response.toolResults) },
});
