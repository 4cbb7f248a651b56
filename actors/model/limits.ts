/** How the platform restricts an account from writing to people who do not know it. */

/** The reach-out time-lock: no new chats for some time. */
export interface TimeLock {
  readonly active: boolean;
  /** Unix milliseconds; null when it is not active, or the platform does not say. */
  readonly until: number | null;
  /** The platform's word for the reason, such as `BIZ_QUALITY`. */
  readonly kind: string;
}

/** How many new chats an account may begin in a cycle. Times in Unix milliseconds; null for what the platform does not say. */
export interface NewChatCap {
  /** `NONE`, `FIRST_WARNING`, `SECOND_WARNING`, `CAPPED`; '' when the platform does not say. */
  readonly status: string;
  readonly used: number | null;
  readonly total: number | null;
  readonly cycleStart: number | null;
  readonly cycleEnd: number | null;
  readonly sentAt: number | null;
  readonly oteStatus: string;
  readonly mvStatus: string;
}

/** What the platform answered about one limit, or why it did not. */
export type Looked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export interface AccountLimits {
  readonly timeLock: Looked<TimeLock>;
  readonly cap: Looked<NewChatCap>;
}
