/** Refuses commands that reached no owner of their instance. Nothing was begun, and a retry is safe. */
import { refuse, type Result } from '../model.ts';
import type { Lease } from '../ports.ts';
import type { ClusterPolicy } from './policy.ts';

export interface Unserved {
  /** Null if no node owns the instance; undefined if the database does not answer. */
  readonly lease: Pick<Lease, 'node' | 'leftMs'> | null | undefined;
  /** True if no node has room for more instances. */
  readonly isFull: boolean;
  /** Current time. In Unix milliseconds. */
  readonly now: number;
  readonly policy: Pick<ClusterPolicy, 'lease' | 'renewEvery' | 'retryEvery'>;
}

/** Seconds before a retry of the client, if no better estimate is known. */
const usualRetry = 2;

/**
 * Refuses a command whose owner does not answer. An owner that missed a renewal and its retry counts as dead. Other nodes take its instances when its
 * lease has ended.
 */
const ownedRefusal = ({ node, leftMs }: Pick<Lease, 'node' | 'leftMs'>, { now, policy }: Unserved): Result<never> => {
  const silentMs = policy.lease - leftMs;
  if (silentMs <= policy.renewEvery + policy.retryEvery)
    return refuse('unavailable', `another node has the instance: ${node}, which is alive and does not answer`, { retryAfter: usualRetry });
  const freeMs = Math.max(0, leftMs) + policy.retryEvery;
  const until = new Date(now + freeMs).toISOString();
  const text = `another node has the instance: ${node}, which has not renewed its lease for ${Math.round(silentMs / 1000)} s; the instance is free at ${until} unless it does`;
  return refuse('unavailable', text, { retryAfter: Math.max(usualRetry, Math.ceil(freeMs / 1000)) });
};

export const unservedRefusal = (unserved: Unserved): Result<never> => {
  const { lease, isFull } = unserved;
  if (lease) return ownedRefusal(lease, unserved);
  const nobody = isFull ? 'no node has room for the instance' : 'no node has the instance at the moment';
  const unknown = 'the database does not say which node has the instance';
  return refuse('unavailable', lease === null ? nobody : unknown, { retryAfter: usualRetry });
};
