/** Settings of the proxies through which sessions reach the platform. */
import { flag, milliseconds, networks, text } from './kinds.ts';
import { group } from './setting.ts';

const proxies = group('Proxies of sessions');

export const proxySettings = {
  allowDirectConnections: proxies(
    flag,
    true,
    "Sessions may connect to the platform from the server's own address. Off, a session without a proxy does not connect at all, and no fallback ends at the server itself. On, since most servers have no proxies.",
  ),
  allowPrivateProxies: proxies(
    networks,
    [],
    "Networks that a `proxy_url` may lie in beside the public internet, as in ALLOW_PRIVATE_RECEIVERS. `none`, since anybody with an instance token could try out what stands behind the firewall. Proxies of the catalogue are the operator's own and may lie anywhere.",
  ),
  proxyCatalog: proxies(
    text,
    '',
    "JSON file with the managed proxies by country and city, read at the start. Absent, calls for managed proxies answer 503, and mode `internal` is the server's own address.",
  ),
  proxyConnectMs: proxies(
    milliseconds(100, 60_000),
    10_000,
    'Time for a proxy to make the connection to the platform or to a media host. Half of OPEN_DEADLINE_MS, so that the reason names the proxy.',
  ),
  proxyTestMs: proxies(
    milliseconds(100, 60_000),
    4_500,
    'Time for the test of a proxy, which has to bring an answer of the platform. A proxy that needs longer loses sessions later; callers wait for the result.',
  ),
  proxyRetryMs: proxies(
    milliseconds(1_000),
    600_000,
    'How long the fallback of a proxy is used before a new connection tries the proxy itself again. Ten minutes: each change of address is one that the platform sees.',
  ),
} as const;
