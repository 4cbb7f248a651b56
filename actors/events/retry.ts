/** What follows a failed attempt: a pure function over the schedule of retries. */
import { between, type DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt } from '../ports.ts';

export type FailedAttempt = Attempt & { readonly ok: false };

export type NextStep =
  /** Tried again after the delay; the lane waits for it. */
  | { readonly kind: 'retry'; readonly delay: number }
  /** Set back to a later time; the lane is held until then. */
  | { readonly kind: 'park'; readonly delay: number }
  /** The attempts are used up. */
  | { readonly kind: 'giveUp' }
  /** The receiver wants nothing more (410): the webhook is disabled, its deliveries stay. */
  | { readonly kind: 'disable' };

/** `attempts`: those that were made, the failed one included. `random` in [0, 1) spreads retries of the same moment. */
export function stepAfter(policy: DeliveryPolicy, attempts: number, outcome: FailedAttempt, random: number): NextStep {
  if (outcome.status === 410) return { kind: 'disable' };
  const { quick, slow, retryAfterMax } = policy;
  const isQuick = attempts < quick.length;
  const base = isQuick ? quick[attempts] : slow[attempts - quick.length];
  // Events of a lane come in order: an event that an earlier one did not make possible by now would hold its lane in vain.
  if (base === undefined || (outcome.waits && !isQuick)) return { kind: 'giveUp' };
  const asked = Math.min((outcome.retryAfter ?? 0) * 1000, retryAfterMax);
  const delay = Math.max(asked, between(base * 0.8, base * 1.2, random));
  return { kind: isQuick ? 'retry' : 'park', delay };
}
