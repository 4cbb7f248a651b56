/** Settings of the server itself: where it listens and stores, who may call it, and how much. */
import {
  choice,
  fixed,
  flag,
  group,
  integer,
  milliseconds,
  networks,
  origins,
  secretKey,
  secretToken,
  secretUrl,
  text,
  url,
  wordsOf,
} from './kinds.ts';

const server = group('Server');

export const serverSettings = {
  host: server(text, '127.0.0.1', 'Address to listen on. Loopback, so that nothing is open to a network before somebody decides it.'),
  port: server(integer(0, 65_535), 3000, 'Port of the HTTP API; 0 takes a free one. 3000 is where people look for a Node service.'),
  baseUrl: server(
    url('http:', 'https:'),
    null,
    'Public address of this server, as the `BaseUrl` of every event. Made of host and port when absent, which is right until a proxy stands in front.',
  ),
  dataDir: server(
    text,
    './data',
    'Folder of the embedded database and the encryption key; made with mode 0700. Beside the program, so that one folder is the backup.',
  ),
  diskFreePercent: server(
    integer(0, 99),
    10,
    'Percent of the disk of the data folder that should be free; below it readiness, the dashboard and the log warn. 0 never warns. A tenth leaves some days for making room, and PostgreSQL needs room for its log beside the data.',
  ),
  databaseUrl: server(
    secretUrl('postgres:', 'postgresql:'),
    null,
    'PostgreSQL server to use. Absent, the gateway starts an embedded one in the data folder: nothing to install for a first try or a single machine.',
  ),
  adminToken: server(
    secretToken,
    null,
    'Admin token, 16 characters or more. Absent, one is made and printed once at the first start, and only its hash is kept: nobody ships a well-known password. A token made by `POST /admin/token/rotate` counts instead of this one until another value stands here.',
  ),
  adminRotateCooldownMs: fixed(
    86_400_000,
    'Least time between two rotations of the admin token. A day, so that a stolen token cannot lock the owner out again and again.',
  ),
  adminSessionMs: server(
    milliseconds(60_000),
    43_200_000,
    'How long a sign-in to the dashboard lasts. 12 hours: longer than a day of work, and over before the next one begins.',
  ),
  encryptionKey: server(
    secretKey,
    null,
    'Key for credentials at rest: 32 bytes as hex or base64. Absent, one is made in `DATA_DIR/encryption.key` with mode 0600. Losing it loses the sessions.',
  ),
  encryptionKeyOld: server(
    secretKey,
    null,
    'The key before ENCRYPTION_KEY, for a change of keys: everything is sealed anew in the background, and the line `storage.resealed` of the log says when this one may go.',
  ),
  metricsPort: server(
    integer(0, 65_535),
    0,
    'Port at which `/metrics` is also offered, without a token, on `METRICS_HOST`. 0: metrics are offered at the API alone, for the admin token.',
  ),
  metricsHost: server(text, '127.0.0.1', 'Address of `METRICS_PORT`. Loopback, since everybody who reaches it can read the metrics.'),
  logLevel: server(
    choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Lowest level that is logged. One line per outcome at `info`; no level shows tokens, keys or message texts.',
  ),
  logFormat: server(
    choice('auto', 'json', 'pretty'),
    'auto',
    'One JSON object a line, or lines for people. `auto` is `pretty` in a terminal and `json` everywhere else.',
  ),
  otlpEndpoint: server(
    secretUrl('http:', 'https:'),
    null,
    'Collector of OpenTelemetry that gets traces over HTTP, such as `http://127.0.0.1:4318/v1/traces`. Absent, there are none, and they cost nothing.',
  ),
  traceSamplePercent: server(
    integer(0, 100),
    100,
    'Share of requests and events that are traced when OTLP_ENDPOINT is set. All, since a first look wants to see something; busy servers keep a few.',
  ),
  numbersLogEveryMs: server(
    milliseconds(0),
    60_000,
    'How often the figures of `GET /admin/numbers` are logged in total, as one line `service.numbers` at `info`; 0 is never. Once a minute is 0.6 MB a day, and fine enough to see in the log afterwards when a storm began.',
  ),
  bodyLimit: server(
    integer(1024, 268_435_456),
    1_048_576,
    'Largest request body in bytes; calls that take files have a limit of their own, which follows from MEDIA_MAX_BYTES. 1 MiB holds the longest text with a preview picture many times over and bounds what a stranger can make the server keep.',
  ),
  answerBytes: server(
    integer(65_536, 1_073_741_824),
    8_388_608,
    'Most bytes of one answer of `/message/find` and `/chat/find`; the page ends there, and `nextOffset` goes on. 8 MiB hold the 2,000 chats that are given when nobody says how many, and are serialised in some 20 ms.',
  ),
  requestsPerSecond: server(
    integer(0, 1_000_000),
    0,
    'Requests a second that one instance token may make; those over it get 429 with `Retry-After`. 0 is no limit: most servers have one owner, who would only slow down their own programs. Searches, sends and deliveries of an instance have a share of their own without it; what a token can take from others is processor time. Set 50 where strangers own the tokens.',
  ),
  authFailuresPerMinute: server(
    integer(0, 1_000_000),
    60,
    'Wrong or missing tokens a minute from one address (of IPv6: one /64). Further wrong tokens get 429. Instance tokens and admin tokens are counted apart. A right instance token is always accepted. After too many wrong admin tokens, an address gets 429 for every admin token, also a right one, until the minute is over. 0 is no limit. 60 leave a forgotten client its polls every two seconds and make guessing hopeless.',
  ),
  overloadLagMs: server(
    milliseconds(0, 60_000),
    1_000,
    'Average delay of the event loop, over three seconds, from which requests get 503 with `Retry-After`; 0 is never. A busy server stays under 50; at 1,000 every answer is late already, and refusing leaves the sessions their time. Hibernating, disconnecting and deleting instances is always possible, and so are health checks and inspection.',
  ),
  healthDetails: server(
    choice('all', 'admin'),
    'all',
    'Who gets the reasons and the progress of the restore from `/health/ready`: everybody, or only callers with the admin token, while others get yes or no. `all`, since it names counts and no instances.',
  ),
  trustedProxies: server(
    networks,
    [],
    'Proxies in front whose `X-Forwarded-For` says where a request comes from, as in ALLOW_PRIVATE_RECEIVERS. `none`, since anybody could write that header where no proxy stands; behind one that is not named here all clients have one address, and the first such request warns in the log (`http.unknownProxy`).',
  ),
  demoServer: server(
    flag,
    false,
    'Public demo: administrative endpoints answer 403. Off, since a server without them cannot be administered.',
  ),
  allowQueryTokens: server(
    flag,
    false,
    'Accept `?token=` and `?admintoken=` in place of headers, for clients that cannot send any. Off, since addresses end up in logs of proxies.',
  ),
  corsOrigins: server(
    origins,
    [],
    'Origins of web pages that may call the interface from a browser: `*`, or a list such as `https://app.example.com`. `none`, since a token in a page can be read by everybody who opens the page; the pages of this server itself need nothing.',
  ),
  mcpTools: server(
    wordsOf('reading', 'sending', 'changing'),
    [],
    'Groups of tools that `/mcp` offers to language models (docs/mcp.md): `reading`, `sending` and `changing`, separated by commas, or `all`. `none`, and then there is no `/mcp`: messages of strangers reach the model, so somebody should decide what it may read and do. Tools that delete, leave, log out or block ask a person in every group.',
  ),
  shutdownMs: server(
    milliseconds(100),
    10_000,
    'Longest time for a graceful stop. 10 s flush keys and deliveries under load; the compose file grants 15 s before it kills.',
  ),
  stopGraceMs: server(
    milliseconds(0),
    3_000,
    'Of SHUTDOWN_MS, how long a stop waits for requests under way, then for the database and for receivers that answer late. What those did not take by then is taken up at the next start.',
  ),
} as const;
