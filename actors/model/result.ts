/** Ordinary failures as values. */
import type { AccountLimits } from './limits.ts';

/** Why something was not done. The last five tell what happened to the world. */
export const reasons = [
  'invalid', // the input makes no sense
  'tooLarge', // a file has more bytes, pixels or seconds than a limit allows
  'notConvertible', // a file is of a type that cannot be sent so, and nothing here makes another of it
  'notFound',
  'forbidden', // the account has not the right, such as that of an admin of a group
  'conflict', // the state does not allow it
  'capped', // the server holds as many connected instances as it may
  'limited', // too many requests, too early, or more than a bound allows; `retryAfter` says when to come back
  'refused', // the platform said no; `code` and `message` are its words
  'unknown', // the request left this process and no answer came; it may have happened
  'notSent', // the session is not connected: nothing left this process, trying again is safe
  'unavailable', // storage is away or the server is stopping: nothing left this process, trying again is safe
  'notSupported', // the platform or this build cannot do it
] as const;

export type Reason = (typeof reasons)[number];

/** A failure that is part of normal life: a value, never thrown. One table in `src/http/` turns `reason` into a status. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
  /** What exactly is wrong, where the interface fixes the message. */
  readonly hint?: string;
  readonly code?: number;
  /** The connection ended meanwhile: what was not answered may be asked again on the next one. */
  readonly connectionLost?: true;
  /** The limits of the account behind a refusal of the platform, where they are known. */
  readonly limits?: Partial<AccountLimits>;
  /** The platform's id of the message that may have been sent, to be looked up later. */
  readonly messageId?: string;
  /** What is wrong with a server that is not ready, in sentences. */
  readonly causes?: readonly string[];
  /** Seconds. */
  readonly retryAfter?: number;
  /** Unix milliseconds between which it is refused, where that is known. */
  readonly pause?: { readonly from: number; readonly to: number };
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Result<T> => ({ ok: true, value });

/** The values of all results, or the first refusal. */
export const allDone = <T>(results: readonly Result<T>[]): Result<readonly T[]> => {
  const values: T[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return done(values);
};

export const refuse = (reason: Reason, message: string, more: Partial<Refusal> = {}): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { ...more, reason, message },
});

export const unknownInstance = refuse('notFound', 'instance not found');

export const notConnected = refuse('notSent', 'the instance is not connected: connect it first, unless it is connecting already');
