/** Calls: their signalling, without sound. */
import type { Digits } from './common.ts';

/** A step of a call. The caller offers and terminates; the other side accepts or rejects on the phone; without a reaction the call times out. */
export interface CallStep {
  readonly step: 'offer' | 'accept' | 'reject' | 'timeout' | 'terminate';
  /** The id of the call. Absent in an offer: a new call gets a new id. */
  readonly id?: string;
  readonly video?: boolean;
}

/** A call, as far as it went. */
export interface CallView {
  readonly id: string;
  readonly from: Digits;
  readonly to: Digits;
  readonly video: boolean;
  /** `by`: whose phone or client made the step. `at`: Unix time in milliseconds. */
  readonly steps: readonly { readonly step: CallStep['step']; readonly by: Digits; readonly at: number }[];
}

/** Calls between people. */
export interface CallsFace {
  /** A step of a call from `from` to `to`. Returns the call's id. */
  call(from: Digits, to: Digits, step: CallStep): Promise<{ readonly id: string }>;
  /** All calls since the start, oldest first. */
  callLog(): readonly CallView[];
}
