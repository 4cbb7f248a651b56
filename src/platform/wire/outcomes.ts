/** Outcomes of operations, in the words of the gateway: what a failure of the client library or of the platform did to the world. */
import { done, type Entry, type Refusal, refuse, type Result } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import { closeOf } from './close-cause.ts';

type Failed = { readonly ok: false; readonly refusal: Refusal };

export const answered = <T>(value: T, entries?: readonly Entry[]): Outcome<T> => ({ ok: true, value, ...(entries ? { entries } : {}) });

/** The failure before any byte left the process. A retry is safe. */
export const notSent: Failed = refuse('notSent', 'the connection was closed before anything was sent', { connectionLost: true });

export const notKnown: Failed = refuse('notSupported', 'this version of the gateway does not know the operation');

/** A frame left the process, and the connection ended before the platform answered. */
export const lostAnswer: Failed = refuse(
  'unknown',
  'the connection was closed before the platform answered: whether it happened is not known',
  {
    connectionLost: true,
  },
);

export const lateAnswer: Failed = refuse('unknown', 'the platform did not answer in time: whether it happened is not known');

/** The platform said no. */
export const refused = (code: number | null, text: string): Failed => refuse('refused', text, code === null ? {} : { code });

/** The platform said no, in its own text. `inWords` turns the text into a sentence about the operation. */
export const refusedAs = (code: number, detail: string): Failed => refuse('refused', detail, { code, detail });

/** The platform refuses requests about a group that the account left, or never was in. */
export const noMember: Failed = refuse('forbidden', 'the account is not a member of this group');

export const noAdmin: Failed = refuse('forbidden', 'the account is no admin of this channel');
export const noChannel: Failed = refuse('notFound', 'Channel not found');

/** The code that the platform gave: Boom errors of the library carry it in `data`, or as their status. */
const codeOf = (error: unknown, status: number | null): number | null =>
  typeof error === 'object' && error !== null && 'data' in error && typeof error.data === 'number' ? error.data : status;

/**
 * Returns the outcome of an operation that ended with an error of the library; null for an error that the library does not foresee. `live`: the connection
 * is still open.
 */
export const outcomeOfError = (error: unknown, live: boolean): Failed | null => {
  const { code, message } = closeOf(error);
  if (!live || code === 428) return lostAnswer;
  if (code === 408) return lateAnswer;
  const answer = codeOf(error, code);
  return answer === null ? null : refusedAs(answer, message);
};

/** The answer of the platform, or its refusal as a value; rejects with everything else. `live`: as in `outcomeOfError`, asked when the request failed. */
export const answerOf = async <T>(work: Promise<T>, live: () => boolean): Promise<Result<T>> => {
  try {
    return done(await work);
  } catch (error) {
    const outcome = outcomeOfError(error, live());
    if (outcome?.refusal.reason !== 'refused') throw error;
    return outcome;
  }
};
