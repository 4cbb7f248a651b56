/** Polls. Votes come back encrypted under the secret that every message carries: see `events/polls.ts`. */
import type { proto } from '@whiskeysockets/baileys';
import { done, type PollContent } from '#actors/model.ts';
import { type Composer, plainComposer } from '../composer.ts';

/** Phones show the third form as a poll of one answer, the first one as a poll of several. */
const contentOf = ({ question, options, selectable }: PollContent): proto.IMessage => {
  const poll = { name: question, options: options.map((optionName) => ({ optionName })), selectableOptionsCount: selectable };
  return selectable === 1 ? { pollCreationMessageV3: poll } : { pollCreationMessage: poll };
};

export const pollComposer: Composer<PollContent> = {
  ...plainComposer(contentOf),
  post: async (poll) => done({ message: contentOf(poll), mediaId: '' }),
};
