/** The state, the limits and the end reasons of linking an account that has a passkey. */
import type { PasskeyOptions } from '../ports.ts';

/** Stages of the linking. The stages wait for the browser of the owner, for the phone, or for the owner to compare two codes. */
const passkeyStages = ['assertion', 'phone', 'code'] as const;
export type PasskeyStage = (typeof passkeyStages)[number];

export interface PasskeyOffer {
  readonly stage: PasskeyStage;
  /** Null after the stage `assertion`. */
  readonly options: PasskeyOptions | null;
  /** The code that the phone also shows, or '' before there is one. */
  readonly code: string;
  /** True if the device has asked to be linked. Only the platform's confirmation is missing then. */
  readonly isLinking: boolean;
  /** The end of the stage, if nothing happens. In Unix milliseconds. */
  readonly expiresAt: number;
}

/** Limits of the platform: ten minutes for the options, and two minutes for each later step. In milliseconds. */
export const passkeyLimits = { assertion: 600_000, step: 120_000 } as const;

/** Reasons for the end of a pairing with a passkey. */
export const passkeySentences = {
  unanswered: 'the platform asked for the passkey of the account, and got no answer: link again and follow GET /instance/passkey',
  noPhone: 'the platform took the passkey, and the phone did not go on: link again',
  notLinked: 'the phone accepted the passkey, and the platform did not confirm the link: link again',
  unconfirmed: 'nobody confirmed the code that the phone showed: link again',
  cancelled: 'linking was cancelled while the platform asked for a passkey',
} as const;

/** Returns the reason for the end of a pairing whose passkey stage reached its time limit. */
const timeoutReason = ({ context: { passkey } }: { readonly context: { readonly passkey: PasskeyOffer | null } }): string => {
  if (passkey?.stage === 'code') return passkeySentences.unconfirmed;
  if (passkey?.stage === 'phone') return passkey.isLinking ? passkeySentences.notLinked : passkeySentences.noPhone;
  return passkeySentences.unanswered;
};

/** Returns the timeout of a state that waits for a person or for the platform during a pairing. */
export const waitsForPasskey = (limit: 'passkeyLimit' | 'passkeyStepLimit') =>
  ({
    after: {
      [limit]: {
        target: '#lifecycle.disconnected.closing',
        actions: [
          { type: 'notePasskeyEnded' as const, params: timeoutReason },
          { type: 'announceStopped' as const, params: timeoutReason },
        ],
      },
    },
  }) as const;

/** The transition of a cancelled linking. */
export const passkeyCancelled = {
  target: '#lifecycle.disconnected.closing',
  actions: [
    { type: 'notePasskeyEnded' as const, params: passkeySentences.cancelled },
    { type: 'announceStopped' as const, params: passkeySentences.cancelled },
  ],
} as const;
