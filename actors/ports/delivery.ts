/** Receivers of webhooks. */
import type { EventSender } from '../model.ts';

/** The outcome of one POST to a receiver. */
export type Attempt =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false;
      readonly status?: number;
      readonly error: string;
      /** The time until a retry may work. In seconds. */
      readonly retryAfter?: number;
      /** Set if the delivery has to wait for another event. The wait says nothing about the health of the receiver. */
      readonly waits?: true;
    };

/** Functions that abort the posts in flight. An aborted post fails at once. */
export type Cuts = Set<() => void>;

export interface Receiver {
  /** Posts JSON and waits at most for the configured time. `cuts` has an entry during the post. Never rejects. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, cuts?: Cuts): Promise<Attempt>;
  /** Returns the reason why this address is never posted to (scheme, form, a forbidden IP literal), or null. Resolves no host name. */
  objection(url: string): string | null;
}

/** Signatures of the Standard Webhooks specification. */
export interface Signer {
  /** Generates a secret: `whsec_` and base64. */
  make(): string;
  /** Returns the reason why this text is not a valid secret, or null. */
  objection(secret: string): string | null;
  /** Returns the value of `webhook-signature`. `timestamp` is in seconds. */
  sign(secret: string, id: string, timestamp: number, body: string): string;
}

/** Returns the envelope keys of a webhook body, in the spelling of the interface. Pure. A test delivery may have a `type` outside the interface. */
export type Envelope = (sender: EventSender, type: string) => Readonly<Record<string, unknown>>;
