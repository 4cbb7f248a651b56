/** Access to the control interface: programs and pages of this machine may use it, web pages in a browser on it may not. */
import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { SandboxError } from '../face.ts';

const hostnameOf = (host: string): string => {
  const url = URL.parse(`http://${host}`);
  return url !== null && url.pathname === '/' && url.username === '' ? url.hostname : '';
};

/** True for loopback names, with or without a port. Any other name could be a DNS rebinding attack. */
const isLoopback = (host: string): boolean => {
  const name = hostnameOf(host);
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
};

/** The same for an address to listen on, which has no brackets. */
export const isLoopbackAddress = (address: string): boolean => isLoopback(address.includes(':') ? `[${address}]` : address);

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
