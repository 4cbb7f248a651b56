/** Access to the control interface. Programs of this machine and the interface's own page may use it. Pages of other origins may not. */
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../base/loopback.ts';
import { SandboxError } from '../interface.ts';

/**
 * Makes a hook that throws a 403 for a foreign host or origin. Browsers send the origin of a page with every request that could change data. `anyName` is true
 * if the operator opened the interface to a network. The host names of the interface are then unknown, so every host name is accepted.
 */
export const callerCheck =
  (anyName: boolean) =>
  async ({ headers: { host, origin } }: Pick<FastifyRequest, 'headers'>): Promise<void> => {
    if (!anyName && !isLoopback(host ?? '')) throw new SandboxError(403, 'this interface answers requests to loopback names only');
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      throw new SandboxError(403, 'this interface does not answer pages of another origin');
    }
  };
