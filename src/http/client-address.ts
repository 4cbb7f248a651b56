/** The address of a client as the limits see it, and the warning about a proxy that hides the addresses. */
import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpLog } from './options.ts';

/** The number of groups of an IPv6 address that form the network of one customer (/64). */
const networkGroups = 4;

const groupsOf = (part: string): readonly string[] => (part === '' ? [] : part.split(':'));

/** Returns the network of an address. For IPv6 it is the /64, because one customer has 2^64 addresses in it. */
export const networkOf = (ip: string): string => {
  const address = ip.split('%')[0] ?? '';
  if (!isIPv6(address)) return ip;
  // The parser writes the shortest form. Mapped addresses become hexadecimal groups.
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  if (short.startsWith('::ffff:')) return short;
  const [head = '', tail] = short.split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return `${[...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, networkGroups).join(':')}::/64`;
};

/** Returns true if the request has a forwarded address from a proxy that is not trusted. */
const isFromUnknownProxy = ({ headers, ips }: FastifyRequest): boolean =>
  headers['x-forwarded-for'] !== undefined && (ips === undefined || ips.length < 2);

/**
 * Warns once about an untrusted proxy. Behind it all clients share one address, so any client can lock out the administrator with wrong
 * tokens.
 */
export const warnOfUnknownProxy = (app: FastifyInstance, log: HttpLog): void => {
  let isTold = false;
  app.addHook('onRequest', (request, _reply, next) => {
    if (!isTold && isFromUnknownProxy(request)) {
      isTold = true;
      log.warn(
        {
          address: request.socket.remoteAddress,
          error: 'a proxy that TRUSTED_PROXIES does not name: all its clients count as one address',
        },
        'http.unknownProxy',
      );
    }
    next();
  });
};
