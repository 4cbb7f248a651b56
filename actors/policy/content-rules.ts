/** What the platform's own clients allow in a message: a content that breaks a rule is refused before anything is stored or written. */
import type { PollContent, SendContent } from '../model.ts';

/** A sentence for whoever sent it, null when nothing is wrong. */
type Rule<Content> = (content: Content) => string | null;

/** Fields with their longest length in characters. */
type Lengths = readonly (readonly [name: string, text: string, most: number])[];

const tooLong = (fields: Lengths): string | null => {
  const found = fields.find(([, text, most]) => text.length > most);
  return found === undefined ? null : `${found[0]} has at most ${found[2]} characters`;
};

const pollRule: Rule<PollContent> = ({ question, options, selectable }) => {
  if (question.trim() === '') return 'a poll needs a question';
  if (options.length < 2 || options.length > 12) return 'a poll has 2 to 12 options';
  if (options.some((option) => option.trim() === '')) return 'an option of a poll is empty';
  if (new Set(options).size < options.length) return 'two options of the poll are the same';
  if (!Number.isInteger(selectable) || selectable < 0 || selectable > options.length)
    return `selectableCount must be 0 (any number) to ${options.length}`;
  return tooLong([['the question', question, 255], ...options.map((option) => ['an option', option, 100] as const)]);
};

/** One row a kind; a kind without a row has no rules beyond its shape. */
const rules: { readonly [K in SendContent['kind']]?: Rule<Extract<SendContent, { kind: K }>> } = {
  poll: pollRule,
};

/** What is wrong with the content, null when nothing is. */
export const contentProblem = (content: SendContent): string | null =>
  (rules[content.kind] as Rule<SendContent> | undefined)?.(content) ?? null;
