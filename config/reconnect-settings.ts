/** Settings of reconnection, and of the proxies through which sessions reach the platform. */
import { derivedInteger, fixed, flag, group, integer, milliseconds, networks, text } from './kinds.ts';

// Settings of reconnection.

const restarts = group('Reconnection');

export const reconnectSettings = {
  reconnectMinMs: restarts(
    milliseconds(1),
    1_000,
    'First delay of the back-off, which doubles from there. 1 s is not felt and already breaks a storm.',
  ),
  reconnectMaxMs: restarts(
    milliseconds(1),
    300_000,
    'Longest delay of the back-off. After an outage of hours everybody is back within 5 minutes.',
  ),
  reconnectStableMs: restarts(
    milliseconds(0),
    300_000,
    'A session that stayed connected this long starts its back-off from the beginning. Shorter, and a session that flaps would never back off.',
  ),
  reconnectCutEveryMs: fixed(
    30_000,
    'Least time between two calls of `POST /instance/connect` that cut the back-off or a suspension of an instance short; others wait with it. A person who presses the button is obeyed at once, a client that polls it makes two connections a minute.',
  ),
  unknownCloseLimit: fixed(
    5,
    'Closes with an unknown code in a row, without ever being connected, until the session is given up. Five, with the back-off, are half a minute.',
  ),
  crashLimit: fixed(3, 'Crashes of one instance within the window until it is stopped. One is an accident, two a coincidence.'),
  crashWindowMs: fixed(60_000, 'Window in which crashes are counted. A fault that comes back within a minute is a fault of the program.'),
  crashCooldownMs: fixed(
    900_000,
    'Pause of an instance that was stopped for crashing, before one more try. 15 minutes keep the log readable and outlast most causes.',
  ),
  handshakesAtOnce: restarts(
    derivedInteger(1, 10_000),
    null,
    'Connections of all instances that may be opening at once. Each holds the event loop for some milliseconds, and many from one address look like an attack. Absent, 5; on a node of several as many as CLUSTER_HANDSHAKES_PER_SECOND.',
  ),
  handshakesPerSecond: restarts(
    derivedInteger(1, 10_000),
    null,
    'Connections that may be started in a second, at boot and after an outage too. Absent, 5: 200 sessions are back in 40 s, quietly. On a node of several absent is as many as CLUSTER_HANDSHAKES_PER_SECOND, which bounds all nodes together: the one that is left takes the sessions of a dead one at the whole pace.',
  ),
  replacedRetryMinMs: restarts(
    milliseconds(0),
    60_000,
    'Shortest wait before the one try to take back a session that another login took over. A person who moved it on purpose wins in that time.',
  ),
  replacedRetryMaxMs: restarts(
    milliseconds(0),
    120_000,
    'Longest wait before that try. The spread keeps two servers from taking turns in step.',
  ),
  replacedWindowMs: restarts(
    milliseconds(0),
    600_000,
    'Only one such try is made within this time; the next takeover stops the session. Two servers that fight for an account get it banned.',
  ),
  restartLimit: fixed(
    3,
    'Restarts asked for by the platform (515) within a minute that are free of charge. One follows every pairing; more than three in a minute are a fault and back off.',
  ),
  restartWindowMs: fixed(60_000, 'Window in which requested restarts are counted.'),
  canaryMinMs: restarts(
    milliseconds(),
    5_000,
    'First pause before one session tries for all, when a cause is common (client too old, outage). Doubles up to CANARY_MAX_MS.',
  ),
  canaryMaxMs: restarts(
    milliseconds(),
    300_000,
    'Longest pause between two tries of a canary. 5 min: one login in that time bothers nobody.',
  ),
  outageWindowMs: fixed(
    10_000,
    'Time in which losses of live sessions belong together. When more than half are lost in it, one probes before the rest follow.',
  ),
  outageLeast: restarts(integer(2, 100_000), 4, 'Losses that make an outage at least, so that two sessions of three are no outage.'),
} as const;

// Settings of the proxies through which sessions reach the platform.

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
