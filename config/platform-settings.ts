/** Settings of the platform and of sessions. */
import { age, integer, milliseconds, url } from './kinds.ts';
import { group } from './setting.ts';

const platform = group('Platform and sessions');

export const platformSettings = {
  platformUrl: platform(
    url('ws:', 'wss:'),
    'wss://web.whatsapp.com/ws/chat',
    'WebSocket of the platform. WhatsApp; a loopback address is taken for the simulated platform.',
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
  hibernateWakeEveryMs: platform(
    age(60_000),
    604_800_000,
    'A hibernated session wakes at least this often. The platform unlinks devices after 14 idle days at the earliest; a week leaves room for one failure.',
  ),
  hibernateDrainMs: platform(
    milliseconds(100),
    10_000,
    'How long a session that woke by itself stays without traffic before it sleeps again. 10 s are ample for what the platform kept.',
  ),
} as const;
