/** Settings of reconnection, and of the proxies through which sessions reach the platform. */
import { derivedInteger, fixed, flag, group, networks, text } from './kinds.ts';

// Settings of reconnection.

const restarts = group('Reconnection');

export const reconnectSettings = {
  reconnectMinMs: fixed(
    1_000,
    'The first delay of the back-off, which then doubles. A delay of 1 s is hardly noticed, and keeps a fault from causing a flood of connections.',
  ),
  reconnectMaxMs: fixed(300_000, 'The longest delay of the back-off. After an outage of hours, all sessions are back within 5 minutes.'),
  reconnectStableMs: fixed(
    300_000,
    'The time after which a connected session starts its back-off from the beginning. With a shorter time, a session that flaps would never back off.',
  ),
  reconnectCutEveryMs: fixed(
    30_000,
    'The least time between two calls of `POST /instance/connect` that cut the back-off or a suspension of an instance short. Further calls wait for the end of the back-off. The first call of a person therefore connects at once. A client that polls causes at most two connections a minute.',
  ),
  unknownCloseLimit: fixed(
    5,
    'The consecutive closes with an unknown code, without a connection between them, after which the session is given up. Five take half a minute with the back-off.',
  ),
  crashLimit: fixed(3, 'The crashes of one instance within the window after which it is stopped. One or two may be accidents.'),
  crashWindowMs: fixed(60_000, 'The window in which crashes are counted. A fault that returns within a minute is a fault of the program.'),
  crashCooldownMs: fixed(
    900_000,
    'The pause of an instance that was stopped for crashing, before one more try. A pause of 15 minutes keeps the log readable and outlasts most causes.',
  ),
  handshakesAtOnce: restarts(
    derivedInteger(1, 10_000),
    null,
    'The connections of all instances that may be opening at once. Each holds the event loop for some milliseconds, and many from one address look like an attack. Without a value it is 5, and on a node of a cluster CLUSTER_HANDSHAKES_PER_SECOND.',
  ),
  handshakesPerSecond: restarts(
    derivedInteger(1, 10_000),
    null,
    'The connections that may start in a second, also at boot and after an outage. Without a value it is 5, so that 200 sessions are back in 40 s. On a node of a cluster it is CLUSTER_HANDSHAKES_PER_SECOND, which bounds all nodes together. The last live node then takes over sessions at the whole pace.',
  ),
  replacedRetryMinMs: fixed(
    60_000,
    'The shortest wait before the single try to take back a session that another login took over. The wait gives a person who moved the session on purpose the time to disconnect this instance.',
  ),
  replacedRetryMaxMs: fixed(
    120_000,
    'The longest wait before that try. The wait is random, so that two servers do not take the session from each other in step.',
  ),
  replacedWindowMs: fixed(
    600_000,
    'The time within which only one such try is made. The next takeover stops the session. The platform bans an account for which two servers fight.',
  ),
  restartLimit: fixed(
    3,
    'The restarts within a minute that the platform may request (515) without a back-off. One follows every pairing. More than three in a minute are a fault.',
  ),
  restartWindowMs: fixed(60_000, 'The window in which requested restarts are counted.'),
  canaryMinMs: fixed(
    5_000,
    'The first pause before one session probes for all, after a common cause (an old client, an outage). The pause doubles up to `canaryMaxMs`.',
  ),
  canaryMaxMs: fixed(
    300_000,
    'The longest pause between two probes of a canary. The pause is 5 min, because one login in 5 min does no harm.',
  ),
  outageWindowMs: fixed(
    10_000,
    'The time in which losses of live sessions belong together. If more than half are lost in it, one session probes before the rest follow.',
  ),
  outageLeast: fixed(4, 'The least number of lost sessions that make an outage, so that two sessions of three are no outage.'),
} as const;

// Settings of the proxies through which sessions reach the platform.

const proxies = group('Proxies of sessions');

export const proxySettings = {
  allowDirectConnections: proxies(
    flag,
    true,
    "True if sessions may connect to the platform from the server's own address. If it is off, a session without a proxy does not connect, and a fallback never uses the server's own address. The default is on, because most servers have no proxies.",
  ),
  allowPrivateProxies: proxies(
    networks,
    [],
    'The private networks in which a `proxy_url` may lie, in the form of ALLOW_PRIVATE_RECEIVERS. The default is `none`, because a holder of an instance token could probe servers behind the firewall. Proxies of the catalogue belong to the operator and may lie anywhere.',
  ),
  proxyCatalog: proxies(
    text,
    '',
    "The JSON file with the managed proxies by country and city, which is read at the start. Without a value calls for managed proxies answer 503, and the mode `internal` is the server's own address.",
  ),
  proxyConnectMs: fixed(
    10_000,
    'The time for a proxy to connect to the platform or to a media host. The time is half of `openDeadlineMs`, so that the reason names the proxy.',
  ),
  proxyTestMs: fixed(
    4_500,
    'The time for the test of a proxy, which needs an answer of the platform. A slower proxy loses sessions later. Callers wait for the result.',
  ),
  proxyRetryMs: fixed(
    600_000,
    'The time for which the fallback of a proxy is used before a new connection tries the proxy again. The time is ten minutes, because the platform sees each change of address.',
  ),
} as const;
