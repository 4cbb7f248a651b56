/** Settings of the platform, of sessions, of pairing and of requests. */
import { age, choice, fixed, group, integer, milliseconds, secretUrl, text, url, version, webSocket } from './kinds.ts';

// Settings of the platform and of sessions.

const platform = group('Platform and sessions');

export const platformSettings = {
  platformUrl: platform(
    webSocket,
    'wss://web.whatsapp.com/ws/chat',
    'The WebSocket address of the platform. The default is WhatsApp. `ws:` is accepted on loopback only, for the simulated platform, because it has no protection on a network.',
  ),
  platformSignatures: platform(
    choice('refuse', 'warn'),
    'refuse',
    'The reaction to a wrong signature of a platform certificate, a pairing or the keys of a contact. `refuse` is the default. `warn` logs `platform.forged` and continues. Use it only between a change of the platform’s root key and the update of this program.',
  ),
  phoneDeletions: platform(
    choice('follow', 'ignore'),
    'follow',
    'The reaction to messages and chats that the owner deletes or clears on the phone. `follow`, the default, deletes them in the gateway too. `ignore` keeps them, for archives that outlive the phone.',
  ),
  platformClientVersion: platform(
    version,
    null,
    'The version of the web client that connections name, such as `2.3000.1043857760`. Without a value the gateway looks it up on the page of the platform. The platform refuses a fixed version after some months.',
  ),
  platformVersionUrl: platform(
    url('http:', 'https:'),
    null,
    'The address whose `/sw.js` or `/` names the version of the web client. Without a value it is the host of PLATFORM_URL, which has both.',
  ),
  platformVersionProxy: platform(
    secretUrl('http:', 'https:', 'socks5:', 'socks5h:', 'socks:'),
    null,
    'The proxy for the look-up of the version. Without a value the gateway asks directly, or not at all if ALLOW_DIRECT_CONNECTIONS is off.',
  ),
  platformVersionEveryMs: fixed(
    86_400_000,
    'The time after which the gateway looks the version up again. The time is a day, because the platform publishes several versions a week and refuses them after months. A refusal leads to a look-up at once.',
  ),
  sandboxHost: platform(
    text,
    '127.0.0.1',
    'The address on which the simulated platform of `npm run sandbox` listens. The default is loopback, because every caller that reaches it controls its phones. `0.0.0.0` in a container opens it to other machines, and the log warns.',
  ),
  sandboxPort: platform(
    integer(0, 65_535),
    3001,
    'The port of the simulated platform of `npm run sandbox`. The default is the port after the one of the API.',
  ),
  maxConnectedInstances: platform(
    integer(1, 100_000),
    200,
    'The sessions that may be connected at once. A further connect gets 429. The benchmark measures 200 sessions on a machine with 2 cores.',
  ),
  openDeadlineMs: fixed(
    20_000,
    'The time for the upgrade and the handshake of a connection. A healthy connection takes less than 2 s. 20 s tolerate a bad mobile network.',
  ),
  loginDeadlineMs: fixed(
    30_000,
    'The time from the handshake to the login. The platform answers in 1 to 3 s. Servers that answer pings but never log a session in have been seen.',
  ),
  closeDeadlineMs: fixed(
    5_000,
    'The time for a socket to close and for its keys to be flushed, before it is cut. A flush takes milliseconds. 5 s cover a restart of the database.',
  ),
  frameSilenceMs: fixed(
    90_000,
    'The time without any frame after which a session is closed and opened again. A connected session pings every 30 s, or every third of this time, and is closed earlier, at the ping after one without an answer.',
  ),
  inboundWaitingBytes: platform(
    integer(65_536, 1_073_741_824),
    16_777_216,
    'The approximate memory for stanzas that one session received and the database has not stored yet. Beyond it the session ends until the database is back. The platform keeps the rest. 16 MiB are 14,000 receipts.',
  ),
  hibernateAfterMs: platform(
    age(0),
    0,
    'The time without traffic after which a session hibernates. 0, the default, is never, because a hibernating session receives nothing until it wakes.',
  ),
  hibernateWakeEveryMs: fixed(
    604_800_000,
    'The longest sleep of a hibernated session. The platform unlinks devices after 14 idle days at the earliest. A week leaves room for one failure.',
  ),
  hibernateDrainMs: fixed(
    10_000,
    'The time without traffic after which a session that woke by itself sleeps again. 10 s are ample for the messages that the platform kept.',
  ),
} as const;

// Settings of pairing and of requests.

const pairing = group('Pairing and requests');

export const pairingSettings = {
  pairingQrMs: fixed(120_000, 'The time in which a QR code can be scanned. Clients of this interface expect 2 minutes.'),
  pairingCodeMs: fixed(
    300_000,
    'The time in which a session can be paired by code. The time is 5 minutes, because typing takes longer than scanning. A code lives for 3 minutes on the platform, and then the gateway shows another one.',
  ),
  connectAnswerMs: fixed(
    5_000,
    'The time that `POST /instance/connect` waits for the first QR code or pairing code before it answers without one. Clients wait 15 s and poll afterwards.',
  ),
  connectsAtOnce: fixed(
    10,
    'The connections that calls of clients may begin on one instance at once. A further call gets 429. Ten suffice for a person who changes between QR code and pairing code, corrects a number and restarts the session.',
  ),
  connectEveryMs: fixed(
    60_000,
    'The time until calls may begin one more connection. A page that always shows a QR code begins one in `pairingQrMs`, which is half of this pace. A client that connects a refused session in a loop logs in once a minute, which is less than the two connections a minute of `reconnectCutEveryMs`.',
  ),
  sendTimeoutMs: fixed(
    15_000,
    'The time that a send waits for the acknowledgement of the platform. Clients give up after 15 s, so a longer wait has no reader.',
  ),
  asyncQueueItems: pairing(
    integer(1, 1_000_000),
    10_000,
    'The messages of one instance that may wait in the asynchronous queue (`async: true`). A further message gets 429. With a pause of 3 s between messages, 10,000 take 8 hours. They wait in the database, not in memory.',
  ),
  asyncQueueAgeMs: pairing(
    milliseconds(1_000),
    86_400_000,
    'The time that a message may wait in the asynchronous queue before it becomes `Failed`. The default is a day, because a message that is a day late is rarely of use.',
  ),
  typingAtOnce: fixed(
    100,
    'The chats of one instance that may show typing or recording at once (`POST /message/presence` with `delay`). A further one gets 429. Each costs a frame every 10 s. 100 chats cost ten frames a second, and no person writes in so many chats at once.',
  ),
  statusRecipients: fixed(
    500,
    "The largest number of recipients of one status post. The rest is left out, and the answer says so (`partial_send`). Each device of each recipient costs an encryption. The platform's own clients send to 500 at most.",
  ),
  wakeTimeoutMs: fixed(
    15_000,
    'The wait of a request for a session that wakes, or that connects in the first minute after a restart or on another node. The time is 15 s, because clients give up then.',
  ),
  unlinkTimeoutMs: fixed(
    8_000,
    "The time in which a disconnect or delete of an offline instance tries to log in and unlink its device. A login takes 1 to 3 s. 8 s leave the rest of a client's 15 s for closing and deleting.",
  ),
} as const;
