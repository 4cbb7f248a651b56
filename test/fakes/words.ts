/** Returns the words that a list shows for a content: its text, or its kind without a text. */
import type { SendContent } from '#actors/model.ts';

export const wordsOf = (content: SendContent): string => (content.kind === 'text' ? content.text : content.kind);
