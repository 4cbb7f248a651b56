/** The address of a client, as rate limits count it. */
import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpLog } from './options.ts';

/** Groups of an IPv6 address that name a network of one customer (/64). */
const networkGroups = 4;

const groupsOf = (part: string): readonly string[] => (part === '' ? [] : part.split(':'));

/** The address; of IPv6 its /64, since whoever has one address there has 2^64. */
export const networkOf = (ip: string): string => {
  const address = ip.split('%')[0] ?? '';
  if (!isIPv6(address)) return ip;
  // The parser writes the shortest form, and mapped addresses as hexadecimal groups.
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  if (short.startsWith('::ffff:')) return short;
  const [head = '', tail] = short.split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return `${[...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, networkGroups).join(':')}::/64`;
};

/** True if the request names a client that no trusted proxy vouches for. */
const isFromUnknownProxy = ({ headers, ips }: FastifyRequest): boolean =>
  headers['x-forwarded-for'] !== undefined && (ips === undefined || ips.length < 2);

/** Warns once: behind a proxy that is not trusted all clients have one address, and anybody locks the administrator out with wrong tokens. */
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
