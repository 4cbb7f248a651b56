/** What an agent reads of a chat: its question and its memory, as turns. Pure. Messages are given oldest first. */
import { wordsOf, type ChatbotAgent, type Message } from '../model.ts';
import type { Turn } from '../ports.ts';

/** An edit is no text of its own: the message that it changed has the new one. */
const isEdit = ({ edited }: Message, at: number, all: readonly Message[]): boolean =>
  edited !== '' && all.findIndex(({ messageId }) => messageId === edited) < at && all.some(({ messageId }) => messageId === edited);

/** Texts of others that wait for an answer: those that are named, or, when none is, everything behind the last own message. */
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

/** The line above the answers of an agent that signs. */
export const signatureOf = ({ name }: ChatbotAgent): string => `*${name}:*\n`;

const spoken = (message: Message, agent: ChatbotAgent): string => {
  const words = wordsOf(message) || (message.type === 'media' ? `[${message.mediaType}]` : '');
  const signature = signatureOf(agent);
  if (message.fromMe) return words.startsWith(signature) ? words.slice(signature.length) : words;
  return message.isGroup && words !== '' ? `${message.senderName || message.sender.split('@')[0]}: ${words}` : words;
};

const hourMs = 3_600_000;

/** What the agent remembers, with the question at its end. Texts of one side in a row are one turn, which is what every model takes. */
export const turnsOf = (
  all: readonly Message[],
  question: readonly Message[],
  { agent, resetAt, now }: { readonly agent: ChatbotAgent; readonly resetAt: number; readonly now: number },
): readonly Turn[] => {
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
  const turns: Turn[] = [];
  for (const message of [...remembered, ...question]) {
    const [text, last] = [spoken(message, agent), turns.at(-1)];
    const by = message.fromMe ? 'assistant' : 'user';
    if (last?.by === by) turns[turns.length - 1] = { ...last, text: `${last.text}\n${text}` };
    else turns.push(by === 'user' ? { by, text } : { by, text, wishes: [] });
  }
  return turns;
};

/**
 * A text in pieces of at most `most` characters, cut at the end of a paragraph, a line, a sentence or a word where there is one; 0: in one piece.
 * The last of `count` pieces is the whole rest.
 */
export const piecesOf = (text: string, most: number, count = Infinity): readonly string[] => {
  const pieces: string[] = [];
  let rest = text.trim();
  if (most <= 0) return rest === '' ? [] : [rest];
  while (rest.length > most && pieces.length < count - 1) {
    const head = rest.slice(0, most + 1);
    const ends = ['\n\n', '\n', '. ', ' '].map((end) => ({ end, at: head.lastIndexOf(end) })).filter(({ at }) => at > 0);
    const cut = ends.find(({ at }) => at > most / 3) ?? ends.at(-1);
    // Not between the two halves of a character.
    const hard = /[\uD800-\uDBFF]/.test(rest[most - 1] ?? '') && most > 1 ? most - 1 : most;
    const at = cut ? cut.at + (cut.end === '. ' ? 1 : 0) : hard;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
};
