/** Polls. Votes come back encrypted under the secret that every message carries: see `events/polls.ts`. */
import type { PollContent } from '#actors/model.ts';
import { plainComposer } from '../composer.ts';

/** Phones show the third form as a poll of one answer, the first one as a poll of several. */
export const pollComposer = plainComposer<PollContent>(({ question, options, selectable }) => {
  const poll = { name: question, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: selectable };
  return selectable === 1 ? { pollCreationMessageV3: poll } : { pollCreationMessage: poll };
});
