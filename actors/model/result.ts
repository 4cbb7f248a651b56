/** Ordinary failures as values. */

/** A failure that is part of normal life: a value, never thrown. One table in `src/http/` turns `reason` into a status. */
export interface Refusal {
  readonly reason:
    | 'invalid' // the input makes no sense
    | 'notFound'
    | 'notConnected' // needs a connected session, and there is none
    | 'capped' // the server holds as many connected instances as it may
    | 'conflict' // the state does not allow it
    | 'platform' // the platform said no; `code` is its word
    | 'timeout' // the platform did not answer in time; unknown whether it happened
    | 'unavailable'; // storage is away, or the server is stopping
  readonly message: string;
  readonly code?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Unix milliseconds between which it is refused, where that is known. */
  readonly pause?: { readonly from: number; readonly to: number };
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Result<T> => ({ ok: true, value });

export const refuse = (reason: Refusal['reason'], message: string, more: Partial<Refusal> = {}): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { reason, message, ...more },
});
