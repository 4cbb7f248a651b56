/** What a command is answered that reached no owner of its instance. Nothing was begun, and trying again is safe. */
import { refuse, type Result } from '../model.ts';
import type { Lease } from '../ports.ts';

/** `lease`: null when nobody owns the instance. `isFull`: no node has room for more. */
export const unservedRefusal = (lease: Lease | null, isFull: boolean): Result<never> => {
  const nobody = isFull ? 'no node has room for the instance' : 'no node has the instance at the moment';
  return refuse('unavailable', lease === null ? nobody : 'another node has the instance', { retryAfter: 2 });
};
