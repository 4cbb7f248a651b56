/** Expected failures as values. */

// Restrictions of the platform on writing to people who do not know the account.

/** The reach-out time-lock. While the lock is active, the account cannot begin new chats. */
export interface TimeLock {
  readonly active: boolean;
  /** The end of the lock, which the adapter estimates if the platform gives none; null if no lock is active. In Unix milliseconds. */
  readonly until: number | null;
  /** The platform's word for the reason, such as `BIZ_QUALITY`. */
  readonly kind: string;
}

/** The number of new chats that an account may begin in a cycle. Fields that the platform leaves out are null. Times in Unix milliseconds. */
export interface NewChatCap {
  /** `NONE`, `FIRST_WARNING`, `SECOND_WARNING` or `CAPPED`; '' if the platform leaves the status out. */
  readonly status: string;
  readonly used: number | null;
  readonly total: number | null;
  readonly cycleStart: number | null;
  readonly cycleEnd: number | null;
  readonly sentAt: number | null;
  readonly oteStatus: string;
  readonly mvStatus: string;
}

/** The platform's answer about one limit, or the error of the request. */
export type Looked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export interface AccountLimits {
  readonly timeLock: Looked<TimeLock>;
  readonly cap: Looked<NewChatCap>;
}

/** Reasons of a refusal. The last five say if the request may have taken effect. */
export const reasons = [
  'invalid', // the input is not valid
  'tooLarge', // a file has more bytes, pixels or seconds than a limit allows
  'notConvertible', // a file has a type that cannot be sent this way and that the gateway cannot convert
  'notFound',
  'forbidden', // the account lacks a right, such as that of a group admin
  'conflict', // the current state does not allow the request
  'capped', // this process has as many connected instances as its limit allows
  'limited', // too many requests, too early, or more than a limit allows; `retryAfter` says when a retry may work
  'refused', // the platform refused; `code` and `message` come from the platform
  'unknown', // the request left this process and no answer came; it may have taken effect
  'notSent', // the session is not connected; nothing left this process, and a retry is safe
  'unavailable', // storage is away or the process is stopping; nothing left this process, and a retry is safe
  'notSupported', // the platform or this build cannot do it
] as const;

export type Reason = (typeof reasons)[number];

/** An expected failure. A refusal is returned as a value and never thrown. One table in `src/http/` turns `reason` into an HTTP status. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
  /** Details of the problem. Used if the interface fixes the wording of `message`. */
  readonly hint?: string;
  readonly code?: number;
  /** The platform's own text beside the code, unchanged. `message` explains this text. */
  readonly detail?: string;
  /** True if the connection ended before the answer came. The request may be repeated on the next connection. */
  readonly connectionLost?: true;
  /** The limits of the account on new chats, for a refusal by the platform. Absent if unknown. */
  readonly limits?: Partial<AccountLimits>;
  /** The platform's id of the message that may have been sent. A client can look its status up later. */
  readonly messageId?: string;
  /** The reasons why the gateway is not ready, in sentences. */
  readonly causes?: readonly string[];
  /** The time until a retry may work. In seconds. */
  readonly retryAfter?: number;
  /** The period in which the request is refused, if it is known. In Unix milliseconds. */
  readonly pause?: { readonly from: number; readonly to: number };
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Result<T> => ({ ok: true, value });

/** Returns the values of all results, or the first refusal. */
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
