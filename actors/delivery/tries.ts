/** The list of attempts that a delivery keeps. The list is stored with the row and causes no write of its own. */
import type { Delivery, LastAttempt, Try } from '../model.ts';
import type { Attempt } from '../ports.ts';

/** The largest number of kept attempts. The default schedule has 11 attempts. */
const mostTries = 12;
/** The largest length of a kept error. In characters. */
const errorLength = 200;

const withoutAnswer = ({ answer: _answer, ...one }: Try): Try => one;

/** Appends an attempt, and drops the oldest attempt if the list is full. Only the new attempt keeps the answer of the receiver. */
export function withTry(before: readonly Try[] | undefined, outcome: Attempt, at: number, ms: number): readonly Try[] {
  const made: Try = outcome.ok
    ? { at, ms, status: outcome.status, error: '' }
    : {
        at,
        ms,
        status: outcome.status ?? 0,
        error: outcome.error.slice(0, errorLength),
        ...(outcome.answer === undefined ? {} : { answer: outcome.answer }),
      };
  return before === undefined ? [made] : [...before.slice(1 - mostTries).map(withoutAnswer), made];
}

/** Returns the number and the list of the attempts, which are stored with the row. */
export const lastOf = ({ attempts, tries }: Pick<Delivery, 'attempts' | 'tries'>): Pick<LastAttempt, 'attempts' | 'tries'> => ({
  attempts,
  ...(tries === undefined ? {} : { tries }),
});
