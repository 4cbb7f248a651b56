/** Linking an account that has a passkey: what the chart remembers of it, its limits, and why it ended. */
import type { PasskeyOptions } from '../ports.ts';

/** Who has to do something now: the owner's browser, the phone, or the owner who compares two codes. */
export const passkeyStages = ['assertion', 'phone', 'code'] as const;
export type PasskeyStage = (typeof passkeyStages)[number];

export interface PasskeyOffer {
  readonly stage: PasskeyStage;
  /** Null beyond the stage `assertion`. */
  readonly options: PasskeyOptions | null;
  /** The code that the phone shows too, '' before there is one. */
  readonly code: string;
  /** When the stage ends by itself, Unix milliseconds. */
  readonly expiresAt: number;
}

/** In milliseconds. The platform's own: options count for ten minutes, every later step for two. */
export const passkeyLimits = { assertion: 600_000, step: 120_000 } as const;

/** Why a pairing with a passkey ended. */
export const passkeySentences = {
  unanswered: 'the platform asked for the passkey of the account, and nobody answered: link again and follow GET /instance/passkey',
  noPhone: 'the platform took the passkey, and the phone did not go on: link again',
  unconfirmed: 'nobody confirmed the code that the phone showed: link again',
  cancelled: 'linking was cancelled while the platform asked for a passkey',
} as const;
