/** Restrictions of the platform on writing to people who do not know the account. */

/** The reach-out time-lock. While the lock is active, the account cannot begin new chats. */
export interface TimeLock {
  readonly active: boolean;
  /** The end of the lock. Unix milliseconds; null if no lock is active or the platform gives no time. */
  readonly until: number | null;
  /** The platform's word for the reason, such as `BIZ_QUALITY`. */
  readonly kind: string;
}

/** The number of new chats that an account may begin in a cycle. Times in Unix milliseconds; null for fields that the platform leaves out. */
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
