/** What a list shows of a content: its text, else its kind. */
import type { SendContent } from '#actors/model.ts';

export const wordsOf = (content: SendContent): string => (content.kind === 'text' ? content.text : content.kind);
