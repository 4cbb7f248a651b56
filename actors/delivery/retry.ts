/** Decides the step after a failed attempt. The decision is a pure function over the retry schedule. */
import { between, type DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';

export type FailedAttempt = Attempt & { readonly ok: false };

export type NextStep =
  /** Retries after the delay. The lane waits for the row. */
  | { readonly kind: 'retry'; readonly delay: number }
  /** Postpones the row in the outbox. The lane is held until then. */
  | { readonly kind: 'park'; readonly delay: number }
  /** Ends the row as a dead letter, because its attempts are used up. */
  | { readonly kind: 'giveUp' }
  /** Disables the webhook, because the receiver answered 410 (Gone). The deliveries of the webhook stay. */
  | { readonly kind: 'disable' };

/** Returns the next step. `attempts` includes the failed one. `random` in [0, 1) adds jitter. */
export function stepAfter(policy: DeliveryPolicy, attempts: number, outcome: FailedAttempt, random: number): NextStep {
  if (outcome.status === 410) return { kind: 'disable' };
  const { quick, slow, retryAfterMax } = policy;
  const isQuick = attempts < quick.length;
  const base = isQuick ? quick[attempts] : slow[attempts - quick.length];
  // Events of a lane come in order. If no earlier event has made an event possible by now, none will. The event must not hold its lane then.
  if (base === undefined || (outcome.waits && !isQuick)) return { kind: 'giveUp' };
  const asked = Math.min((outcome.retryAfter ?? 0) * 1000, retryAfterMax);
  const delay = Math.max(asked, between(base * 0.8, base * 1.2, random));
  return { kind: isQuick ? 'retry' : 'park', delay };
}

/** Returns the longest time for which a row is parked. In milliseconds. */
export const longestParking = ({ slow, retryAfterMax }: Pick<DeliveryPolicy, 'slow' | 'retryAfterMax'>): number =>
  Math.max(retryAfterMax, ...slow.map((base) => base * 1.2));
