/** Receivers of webhooks. */
import type { EventSender } from '../model.ts';

/** Outcome of one POST to a receiver. */
export type Attempt =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false;
      readonly status?: number;
      readonly error: string;
      /** Seconds. */
      readonly retryAfter?: number;
      /** It waits for another event, which says nothing of the receiver. */
      readonly waits?: true;
    };

/** What ends each post that is under way, at once and as a failure. */
export type Cuts = Set<() => void>;

export interface Receiver {
  /** Posts JSON, waits at most the configured time. `cuts` has an entry for it while it is under way. Never rejects. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, cuts?: Cuts): Promise<Attempt>;
  /** Why this address is never posted to (scheme, form, a forbidden literal); null when nothing speaks against it. Resolves no name. */
  objection(url: string): string | null;
}

/** Signatures as in the Standard Webhooks specification. */
export interface Signer {
  /** A fresh secret, `whsec_` and base64. */
  make(): string;
  /** Why this text is no secret; null when it is one. */
  objection(secret: string): string | null;
  /** The value of `webhook-signature`; `timestamp` in seconds. */
  sign(secret: string, id: string, timestamp: number, body: string): string;
}

/** The keys that stand around the event's own keys in a webhook body, as the interface spells them. Pure; `type` may be no type of the interface (a test). */
export type Envelope = (sender: EventSender, type: string) => Readonly<Record<string, unknown>>;
