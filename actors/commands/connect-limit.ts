/**
 * Limits the connections that calls begin on one instance. The platform may ban a number that logs in over and over, as it does if a client connects a
 * refused session in a loop.
 */
import { type InstanceId, type Refusal, refuse } from '../model.ts';
import { NamedBuckets } from '../policy/pacing.ts';
import type { Policy } from '../policy/policy.ts';
import type { Time } from '../ports.ts';

type Objection = { readonly ok: false; readonly refusal: Refusal } | null;

const afterWait = (ms: number): Objection => {
  if (ms === 0) return null;
  const retryAfter = Math.ceil(ms / 1_000);
  return refuse(
    'limited',
    `too many calls began a connection of this instance: try again in ${retryAfter} s, because the platform may ban its number`,
    { retryAfter },
  );
};

/** The buckets outlive the cells, because an idle instance of a cluster loses its cell after a minute. */
export class ConnectLimit {
  readonly #buckets: NamedBuckets;
  readonly #time: Time;

  constructor({ connects }: Pick<Policy, 'connects'>, time: Time) {
    this.#buckets = new NamedBuckets(connects);
    this.#time = time;
  }

  /** Returns the refusal that `take` would return. */
  objection(id: InstanceId): Objection {
    return afterWait(this.#buckets.waitOf(id, this.#time.monotonic()));
  }

  /** Counts a connection that a call begins now. Returns a refusal if the call must not begin it, else null. */
  take(id: InstanceId): Objection {
    return afterWait(this.#buckets.take(id, this.#time.monotonic()));
  }
}
