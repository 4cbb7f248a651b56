/** Who may speak to the control interface: programs and pages of this machine, and no page of the web through a browser on it. */
import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { SandboxError } from '../face.ts';

const hostnameOf = (host: string): string => {
  const url = URL.parse(`http://${host}`);
  return url !== null && url.pathname === '/' && url.username === '' ? url.hostname : '';
};

/** The name alone, with or without a port; other names could be made to point here (DNS rebinding). */
export const isLoopback = (host: string): boolean => {
  const name = hostnameOf(host);
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
};

/** Throws a 403. A browser names the page's origin in every request that could change something. */
export const checkCaller = async ({ headers: { host, origin } }: Pick<FastifyRequest, 'headers'>): Promise<void> => {
  if (!isLoopback(host ?? '')) throw new SandboxError(403, 'this interface answers requests to loopback names only');
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw new SandboxError(403, 'this interface does not answer pages of another origin');
  }
};
