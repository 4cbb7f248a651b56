/** Access to the control interface: programs and pages of this machine may use it, web pages in a browser on it may not. */
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../../base/loopback.ts';
import { SandboxError } from '../face.ts';

/**
 * Makes a hook that throws a 403 for a foreign host or origin. Browsers send the origin of a page with every request that could change something.
 * `anyName`: the operator has opened the interface to a network, where it has names that it does not know.
 */
export const callerCheck =
  (anyName: boolean) =>
  async ({ headers: { host, origin } }: Pick<FastifyRequest, 'headers'>): Promise<void> => {
    if (!anyName && !isLoopback(host ?? '')) throw new SandboxError(403, 'this interface answers requests to loopback names only');
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      throw new SandboxError(403, 'this interface does not answer pages of another origin');
    }
  };
