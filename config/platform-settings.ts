/** Settings of the platform, of sessions, of pairing and of requests. */
import { age, choice, fixed, group, integer, milliseconds, secretUrl, text, url, version, webSocket } from './kinds.ts';

// Settings of the platform and of sessions.

const platform = group('Platform and sessions');

export const platformSettings = {
  platformUrl: platform(
    webSocket,
    'wss://web.whatsapp.com/ws/chat',
    'WebSocket of the platform. WhatsApp; `ws:` is taken on loopback only, for the simulated platform, since nothing protects it on a network.',
  ),
  platformSignatures: platform(
    choice('refuse', 'warn'),
    'refuse',
    'What happens when a certificate of the platform, a pairing or keys of a contact are signed wrongly. `warn` logs `platform.forged` and goes on: for the hours between a change of the platform’s root key and an update of this program.',
  ),
  phoneDeletions: platform(
    choice('follow', 'ignore'),
    'follow',
    'What happens here to messages and chats that the owner deletes or clears on the phone. `follow`: they go here too. `ignore`: they stay stored, for archives that outlive the phone.',
  ),
  platformClientVersion: platform(
    version,
    null,
    'Version of the web client that connections name, such as `2.3000.1043857760`. Absent, it is looked up on the page of the platform: a version that is fixed is refused some months later.',
  ),
  platformVersionUrl: platform(
    url('http:', 'https:'),
    null,
    'Address whose `/sw.js` or `/` names the version of the web client. Absent, the host of PLATFORM_URL, which has both.',
  ),
  platformVersionProxy: platform(
    secretUrl('http:', 'https:', 'socks5:', 'socks5h:', 'socks:'),
    null,
    'Proxy through which the server looks the version up. Absent, it asks directly, or not at all where ALLOW_DIRECT_CONNECTIONS is off.',
  ),
  platformVersionEveryMs: platform(
    age(10_000),
    86_400_000,
    'Time after which the version is looked up again. Once a day: the platform publishes several a week and refuses them after months. A refusal looks it up at once.',
  ),
  sandboxHost: platform(
    text,
    '127.0.0.1',
    'Address on which the simulated platform of `npm run sandbox` listens. Loopback, since everybody who reaches it controls its phones; `0.0.0.0` in a container makes it reachable from outside, and the log warns.',
  ),
  sandboxPort: platform(integer(0, 65_535), 3001, 'Port of the simulated platform of `npm run sandbox`. The one after the API.'),
  maxConnectedInstances: platform(
    integer(1, 100_000),
    200,
    'Sessions that may be connected at once; a connect above it answers 429. 200 is the number that the bench measures on a machine with 2 cores.',
  ),
  openDeadlineMs: platform(
    milliseconds(100),
    20_000,
    'Time for the upgrade and the handshake of a connection. A healthy one takes under 2 s; 20 s forgives a bad mobile network.',
  ),
  loginDeadlineMs: platform(
    milliseconds(100),
    30_000,
    'Time from the handshake to the login. The platform answers in 1 to 3 s, and a server that answers pings but never logs in is known to happen.',
  ),
  closeDeadlineMs: platform(
    milliseconds(100),
    5_000,
    'Time for a socket to close and its keys to be flushed before it is cut. Flushing takes milliseconds; 5 s cover a database that restarts.',
  ),
  frameSilenceMs: platform(
    milliseconds(1_000),
    90_000,
    'A connected session without any frame for this long is ended and opened again. Pings go every 30 s, so that three were missed.',
  ),
  inboundWaitingBytes: platform(
    integer(65_536, 1_073_741_824),
    16_777_216,
    'Memory, about, for what one session received and the database has not taken yet. Beyond it the session ends until the database is back; the platform keeps the rest. 16 MiB are 14,000 receipts.',
  ),
  hibernateAfterMs: platform(
    age(0),
    0,
    'Time without traffic after which a session hibernates by itself. 0 is never: who hibernates receives nothing until it wakes.',
  ),
  hibernateWakeEveryMs: fixed(
    604_800_000,
    'A hibernated session wakes at least this often. The platform unlinks devices after 14 idle days at the earliest; a week leaves room for one failure.',
  ),
  hibernateDrainMs: fixed(
    10_000,
    'How long a session that woke by itself stays without traffic before it sleeps again. 10 s are ample for what the platform kept.',
  ),
} as const;

// Settings of pairing and of requests.

const pairing = group('Pairing and requests');

export const pairingSettings = {
  pairingQrMs: pairing(milliseconds(1_000), 120_000, 'Time in which a QR code can be scanned. Clients of this interface expect 2 minutes.'),
  pairingCodeMs: pairing(
    milliseconds(1_000),
    300_000,
    'Time in which a session can be paired by code. 5 minutes, since typing takes longer than scanning. One code lives 3 minutes on the platform; then another one is shown.',
  ),
  connectAnswerMs: pairing(
    milliseconds(0, 60_000),
    5_000,
    'How long `POST /instance/connect` waits for the first QR or code before it answers without. Clients wait 15 s and poll afterwards anyway.',
  ),
  sendTimeoutMs: pairing(
    milliseconds(100),
    15_000,
    'How long a send waits for the platform to acknowledge it. Clients give up after 15 s, so that a longer wait would answer nobody.',
  ),
  asyncQueueItems: pairing(
    integer(1, 1_000_000),
    10_000,
    'Messages of one instance that may wait in the asynchronous queue (`async: true`); more are refused with 429. 10,000 go out in under an hour at the pace of a careful account, and wait in the database, not in memory.',
  ),
  asyncQueueAgeMs: pairing(
    milliseconds(1_000),
    86_400_000,
    'How long a message may wait in the asynchronous queue before it becomes `Failed`. A day: a reminder that is sent later than that embarrasses its sender.',
  ),
  typingAtOnce: pairing(
    integer(1, 10_000),
    100,
    'Chats of one instance in which typing or recording is kept up at once (`POST /message/presence` with `delay`); one more is refused with 429. Each costs a frame every 10 s: 100 are ten a second, far more than anybody writes.',
  ),
  statusRecipients: pairing(
    integer(1, 5_000),
    500,
    "Recipients of one status post at most; the rest is left out, and the answer says so (`partial_send`). Each device of each recipient costs an encryption, and the platform's own clients send at most 500 at once.",
  ),
  wakeTimeoutMs: pairing(
    milliseconds(100),
    15_000,
    'How long a request waits for a session that wakes, or that connects in the first minute after a restart or on another node. The same 15 s: the client is gone after that.',
  ),
  unlinkTimeoutMs: pairing(
    milliseconds(100),
    8_000,
    'How long a disconnect or delete of an instance that is not connected tries to log in to unlink its device. A login takes 1 to 3 s; 8 s leave of the 15 s of a client what closing and deleting may take.',
  ),
} as const;
