/** Settings of what is kept about chats. */
import { integer } from './kinds.ts';
import { group } from './setting.ts';

const leads = group('Leads');

export const leadSettings = {
  definitionsPerInstance: leads(
    integer(1, 100_000),
    1_000,
    'Tags of leads that one instance may have, and as many quick replies that are kept here; one more is refused with 429. They are listed all at once, and a board with a hundred columns is not readable.',
  ),
} as const;
