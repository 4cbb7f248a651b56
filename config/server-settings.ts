/** Settings of the server itself: addresses, storage, access and limits. */
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
  host: server(
    text,
    '127.0.0.1',
    'The address on which the server listens. The default is loopback, so that no network reaches the server until the operator allows it.',
  ),
  port: server(integer(0, 65_535), 3000, 'The port of the HTTP API. 0 takes a free port. The default is the usual port of a Node service.'),
  baseUrl: server(
    url('http:', 'https:'),
    null,
    'The public address of this server, and the `BaseUrl` of every event. Without a value it is made of host and port. That address is wrong behind a proxy.',
  ),
  dataDir: server(
    text,
    './data',
    'The folder of the embedded database and the encryption key. It is made with mode 0700. The default is a folder beside the program, so that one folder is the backup.',
  ),
  diskFreePercent: server(
    integer(0, 99),
    10,
    "The percentage of the data folder's disk that should be free. Below it, readiness, the dashboard and the log warn. 0 never warns. The default of 10 leaves some days to make room. PostgreSQL needs room for its log beside the data.",
  ),
  databaseUrl: server(
    secretUrl('postgres:', 'postgresql:'),
    null,
    'The address of the PostgreSQL server. Without a value the gateway starts an embedded server in the data folder, so that a single machine needs no installation.',
  ),
  adminToken: server(
    secretToken,
    null,
    'The admin token, of 16 characters or more. Without a value the gateway makes one at the first start, prints it once, and keeps only its hash. There is no default, so that no installation has a well-known password. A token made by `POST /admin/token/rotate` replaces this one until the value changes.',
  ),
  updateCheckUrl: server(
    url('http:', 'https:'),
    null,
    'The address of the newest release of Dormouse, for the page *Version* of the dashboard: `…/releases/latest` of a forge, or `…/latest` of a package registry. The gateway asks it at most once in six hours, and only while somebody opens the page. Without a value no server is asked.',
  ),
  adminRotateCooldownMs: fixed(
    86_400_000,
    'The least time between two rotations of the admin token. The time is a day, so that a stolen token cannot lock the owner out again and again.',
  ),
  adminSessionMs: server(
    milliseconds(60_000),
    43_200_000,
    'The duration of a sign-in to the dashboard. The default of 12 hours is longer than a day of work, and ends before the next one begins.',
  ),
  encryptionKey: server(
    secretKey,
    null,
    'The key for credentials at rest: 32 bytes as hex or base64. Without a value the gateway makes one in `DATA_DIR/encryption.key` with mode 0600. If the key is lost, the sessions are lost.',
  ),
  encryptionKeyOld: server(
    secretKey,
    null,
    'The previous ENCRYPTION_KEY, for a change of keys. The gateway then seals all values again in the background. The line `storage.resealed` of the log says when this setting can be removed.',
  ),
  metricsPort: server(
    integer(0, 65_535),
    0,
    'The port at which `METRICS_HOST` also offers `/metrics`, without a token. With 0, the default, only the API offers metrics, and asks for the admin token.',
  ),
  metricsHost: server(
    text,
    '127.0.0.1',
    'The address on which `METRICS_PORT` listens. The default is loopback, because every caller that reaches this address can read the metrics.',
  ),
  logLevel: server(
    choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'The lowest level that is logged. The default, `info`, gives one line for each outcome. No level shows tokens, keys or message texts.',
  ),
  logFormat: server(
    choice('auto', 'json', 'pretty'),
    'auto',
    'The form of log lines: a JSON object for each line, or text for people. The default, `auto`, is `pretty` in a terminal and `json` elsewhere.',
  ),
  otlpEndpoint: server(
    secretUrl('http:', 'https:'),
    null,
    'The OpenTelemetry collector that gets traces over HTTP, such as `http://127.0.0.1:4318/v1/traces`. Without a value there are no traces, and they cost nothing.',
  ),
  traceSamplePercent: server(
    integer(0, 100),
    100,
    'The percentage of requests and events that are traced when OTLP_ENDPOINT is set. The default traces all, so that a first try shows something. Busy servers need only a few percent.',
  ),
  numbersLogEveryMs: fixed(
    60_000,
    'The interval at which the log gets the totals of `GET /admin/numbers`, as one line `service.numbers` at `info`. 0 is never. A line each minute is 0.6 MB a day, and shows later when a storm began.',
  ),
  bodyLimit: server(
    integer(1024, 268_435_456),
    1_048_576,
    'The largest request body in bytes. Calls that take files have a limit that follows from MEDIA_MAX_BYTES. 1 MiB holds the longest text with a preview picture many times. The limit also bounds the memory that a stranger can take.',
  ),
  answerBytes: fixed(
    8_388_608,
    'The largest answer of `/message/find` and `/chat/find` in bytes. A page ends at this size, and `nextOffset` gives the start of the next page. 8 MiB hold 2,000 chats, which is the default page, and take about 20 ms to serialise.',
  ),
  requestsPerSecond: server(
    integer(0, 1_000_000),
    0,
    'The requests a second that one instance token may make. Further requests get 429 with `Retry-After`. Each node counts separately. 0, the default, is no limit, because most servers have one owner. Searches, sends and deliveries of an instance have a bound without it, so only processor time is shared. Set 50 if strangers own the tokens.',
  ),
  authFailuresPerMinute: server(
    integer(0, 1_000_000),
    60,
    'The wrong tokens a minute from one address (for IPv6, from one /64). Further wrong tokens get 429. Each node counts separately. Instance tokens, admin tokens and cookies of the dashboard are counted apart. A missing token is no guess. A right instance token is always accepted. After too many wrong admin tokens, an address gets 429 for every admin token, also a right one, until the minute is over. 0 is no limit. With the default of 60, a forgotten client can poll every two seconds, and guessing is hopeless.',
  ),
  overloadLagMs: server(
    milliseconds(0, 60_000),
    1_000,
    'The average delay of the event loop, over three seconds, from which requests get 503 with `Retry-After`. 0 is never. A busy server stays below 50. At 1,000 every answer is late, and the refusals leave time for the sessions. Requests to hibernate, disconnect or delete an instance are always accepted, and so are health checks and inspection.',
  ),
  healthDetails: server(
    choice('all', 'admin'),
    'all',
    'The callers that get reasons and the progress of the restore from `/health/ready`. With `admin` these are callers with the admin token, and others get yes or no. The default is `all`, because the details have counts and no instances.',
  ),
  trustedProxies: server(
    networks,
    [],
    'The proxies whose `X-Forwarded-For` names the client, in the form of ALLOW_PRIVATE_RECEIVERS. The default is `none`, because without a proxy any client can write that header. Behind a proxy that is not listed, all clients have one address. The first such request warns in the log (`http.unknownProxy`).',
  ),
  demoServer: server(
    flag,
    false,
    'True for a public demo, where administrative endpoints answer 403. The default is off, because such a server cannot be administered.',
  ),
  allowQueryTokens: server(
    flag,
    false,
    'True to accept `?token=` and `?admintoken=` in place of headers, for clients that cannot send headers. The default is off, because proxies log addresses.',
  ),
  corsOrigins: server(
    origins,
    [],
    'The origins of web pages that may call the interface from a browser: `*`, or a list such as `https://app.example.com`. The default is `none`, because every visitor of a page can read its token. The pages of this server need no entry.',
  ),
  mcpTools: server(
    wordsOf('reading', 'sending', 'changing'),
    [],
    'The groups of tools that `/mcp` offers to language models (docs/mcp.md): `reading`, `sending` and `changing`, separated by commas, or `all`. With `none`, the default, there is no `/mcp`. Messages of strangers reach the model, so the operator should decide what it may do. Tools that delete, leave, log out or block ask a person in every group.',
  ),
  shutdownMs: server(
    milliseconds(100),
    10_000,
    'The longest time for a graceful stop. 10 s are enough to flush keys and deliveries under load. The compose file grants 15 s before it kills the process.',
  ),
  stopGraceMs: fixed(
    3_000,
    'The time in which a stop waits for open requests, and then for the database and slow receivers. It is never longer than SHUTDOWN_MS. The next start resumes work that is not finished by then. 3 s leave most of the usual 10 s for closing the sessions.',
  ),
} as const;
