/** The table of settings: every one with its name, kind, default and the reason for that default. Nothing else knows a default. */
import { age, integer, milliseconds, networks, times, url } from './kinds.ts';
import { fileSettings } from './file-settings.ts';
import { leadSettings } from './lead-settings.ts';
import { mediaSettings } from './media-settings.ts';
import { proxySettings } from './proxy-settings.ts';
import { serverSettings } from './server-settings.ts';
import { pictureSettings } from './picture-settings.ts';
import { sendSettings } from './send-settings.ts';
import { groupSettings } from './group-settings.ts';
import { group, type Setting } from './setting.ts';
import { uploadSettings } from './upload-settings.ts';

export type { Setting } from './setting.ts';

const database = group('Database connections');
const platform = group('Platform and sessions');
const pairing = group('Pairing and requests');
const restarts = group('Reconnection');
const events = group('Events and webhooks');

/** Keys are the names in the program; `nameOf` gives the name in the environment (`dataDir` is `DATA_DIR`). */
export const table = {
  ...serverSettings,
  databaseKeyConnections: database(
    integer(1, 100),
    5,
    'Connections that store credentials, Signal keys and received stanzas. Each kind of work has its own, so that none waits for another.',
  ),
  databaseJournalConnections: database(
    integer(1, 100),
    5,
    'Connections that store messages, records and deliveries. On 2 cores, 5 and 5 store three times as many messages a second as 1 and 1, and more than that no more.',
  ),
  databaseQueryConnections: database(
    integer(1, 100),
    4,
    'Connections for lists and searches. Clients who ask for more at once wait for each other.',
  ),
  databaseSweepConnections: database(
    integer(1, 100),
    2,
    'Connections that bound queues, count, replay and remove. Two, so that a long removal does not hold up the bounds.',
  ),
  databaseConnectionMs: database(
    milliseconds(100, 60_000),
    3_000,
    'How long work waits for a free connection of its kind, or for a new one.',
  ),
  databaseStatementMs: database(
    milliseconds(100, 600_000),
    5_000,
    'Time of a statement, after which the database stops it. Every statement of the gateway takes milliseconds; 5 s forgive a busy disk.',
  ),

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

  pairingQrMs: pairing(milliseconds(1_000), 120_000, 'Time in which a QR code can be scanned. Clients of this interface expect 2 minutes.'),
  pairingCodeMs: pairing(
    milliseconds(1_000),
    300_000,
    'Time in which a pairing code can be typed. 5 minutes, since typing takes longer than scanning.',
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
    'How long a request waits for a hibernated session to wake up. The same 15 s: the client is gone after that.',
  ),
  unlinkTimeoutMs: pairing(
    milliseconds(100),
    8_000,
    'How long a disconnect or delete of an instance that is not connected tries to log in to unlink its device. A login takes 1 to 3 s; 8 s leave of the 15 s of a client what closing and deleting may take.',
  ),

  ...sendSettings,
  ...pictureSettings,

  ...leadSettings,

  ...groupSettings,

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
  reconnectCutEveryMs: restarts(
    age(0),
    30_000,
    'Least time between two calls of `POST /instance/connect` that cut the back-off or a suspension of an instance short; others wait with it. A person who presses the button is obeyed at once, a client that polls it makes two connections a minute.',
  ),
  unknownCloseLimit: restarts(
    integer(1, 1_000),
    5,
    'Closes with an unknown code in a row, without ever being connected, until the session is given up. Five, with the back-off, are half a minute.',
  ),
  crashLimit: restarts(
    integer(1, 1_000),
    3,
    'Crashes of one instance within the window until it is stopped. One is an accident, two a coincidence.',
  ),
  crashWindowMs: restarts(
    milliseconds(100),
    60_000,
    'Window in which crashes are counted. A fault that comes back within a minute is a fault of the program.',
  ),
  crashCooldownMs: restarts(
    milliseconds(100),
    900_000,
    'Pause of an instance that was stopped for crashing, before one more try. 15 minutes keep the log readable and outlast most causes.',
  ),
  handshakesAtOnce: restarts(
    integer(1, 10_000),
    5,
    'Connections of all instances that may be opening at once. Each holds the event loop for some milliseconds, and many from one address look like an attack.',
  ),
  handshakesPerSecond: restarts(
    integer(1, 10_000),
    5,
    'Connections that may be started in a second, at boot and after an outage too. 200 sessions are back in 40 s, quietly.',
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
  restartLimit: restarts(
    integer(1, 1_000),
    3,
    'Restarts asked for by the platform (515) within RESTART_WINDOW_MS that are free of charge. One follows every pairing; more than three in a minute are a fault and back off.',
  ),
  restartWindowMs: restarts(milliseconds(), 60_000, 'Time in which RESTART_LIMIT counts.'),
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
  outageWindowMs: restarts(
    milliseconds(),
    10_000,
    'Time in which losses of live sessions belong together. When more than half are lost in it, one probes before the rest follow.',
  ),
  outageLeast: restarts(integer(2, 100_000), 4, 'Losses that make an outage at least, so that two sessions of three are no outage.'),

  allowPrivateReceivers: events(
    networks,
    [],
    'Networks that webhooks and fetched addresses may lie in beside the public internet: a list of `private` (RFC 1918, carrier and unique local networks), `loopback` and subnets; `true` is both words. `none`, since the holder of an instance token could reach what stands behind the firewall.',
  ),
  webhookTimeoutMs: events(
    milliseconds(100),
    10_000,
    'Time for a receiver to answer, from the connection to the end of the body. Receivers are asked to answer quickly and work afterwards.',
  ),
  webhookConcurrency: events(
    integer(1, 1_000),
    8,
    'Chats whose events go to one webhook side by side. 8 keep a receiver of 50 ms at 160 events a second and do not flood a small one.',
  ),
  webhookQuickRetriesMs: events(
    times,
    [0, 1_500, 5_000],
    'Waits before the first attempts, while the chat of the event waits. Three tries over a few seconds outlive a restart of most receivers.',
  ),
  webhookSlowRetriesMs: events(
    times,
    [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000],
    'Waits before the later attempts, while the chat goes on. Together they cover 20 hours, so that a night without anybody on call loses nothing.',
  ),
  circuitFailures: events(
    integer(1, 10_000),
    10,
    'Failures in a row that open the circuit of a webhook. Ten are no accident, and a dead receiver then costs one probe at a time.',
  ),
  circuitMinMs: events(milliseconds(), 30_000, 'First pause before a probe of an open circuit; doubles up to CIRCUIT_MAX_MS.'),
  circuitMaxMs: events(milliseconds(), 600_000, 'Longest pause between two probes. 10 min find a receiver soon that is back.'),
  webhookRetryAfterMaxMs: events(
    milliseconds(0),
    3_600_000,
    'Longest `Retry-After` of a receiver that is honoured. An hour: more would be taken for a broken clock.',
  ),
  webhookPostsAtOnce: events(
    integer(1, 100_000),
    512,
    'Posts of all webhooks together that may be under way. Each holds a socket and some 20 KB; a receiver that fails is given one of them at a time.',
  ),
  webhookPostsPerHost: events(
    integer(1, 10_000),
    64,
    'Posts to one host that may be under way, whatever webhooks they belong to. Many instances often share one receiver, and 64 of 50 ms are 1,280 events a second.',
  ),
  webhookInMemory: events(
    integer(8, 100_000),
    512,
    'Deliveries of one webhook and instance that are held in memory; the rest waits in the database. Enough to keep every lane busy, and 1 MB at 2 KB each.',
  ),
  webhookInMemoryBytes: events(
    integer(65_536, 1_073_741_824),
    4_194_304,
    'Bytes of the events that may be held in memory for one webhook and instance, one event in any case. 4 MiB are the 512 at 8 KB; without it 512 batches of the past would be 128 MB.',
  ),
  webhookQueueRows: events(
    integer(1, 100_000_000),
    100_000,
    'Deliveries that may wait for one webhook. What is over it is dropped: presence and history first, messages last, of one type the oldest. A day at one event a second.',
  ),
  webhookQueueBytes: events(
    integer(1024, 1_000_000_000_000),
    268_435_456,
    'Bytes of the events that may wait for one webhook. 256 MiB are the 100,000 deliveries at 2.6 KB; it is the disk that a dead receiver may cost.',
  ),
  webhookQueueAgeMs: events(
    age(60_000),
    604_800_000,
    'Events older than this are not delivered any more. A week: a receiver that was forgotten over holidays still gets everything.',
  ),
  webhookKeepRows: events(
    integer(0, 10_000_000),
    10_000,
    'Past deliveries of one webhook that are kept for a replay, delivered and dead ones each. At 2 KB they are 20 MB a webhook.',
  ),
  webhookKeepDeliveredMs: events(
    age(0),
    86_400_000,
    'Age of an event until which it can be sent again after it was delivered; 0 keeps none. A day is when a receiver’s bug is noticed. It costs the database 5 µs and 2 KB of its log an event.',
  ),
  webhookKeepDeadMs: events(
    age(0),
    604_800_000,
    'Age of an event until which it can be sent again after all attempts failed; 0 keeps none. A week, like the queue.',
  ),
  webhookSweepMs: events(
    milliseconds(100),
    10_000,
    'How often the bounds above are looked after. In 10 s a busy instance adds a few thousand deliveries, a small part of what is allowed.',
  ),
  webhooksPerInstance: events(
    integer(1, 10_000),
    20,
    'Webhooks that one instance may have; one more is refused. Each event is stored once for each of them, and nobody known to us has more than a handful.',
  ),
  streamsPerToken: events(
    integer(1, 10_000),
    20,
    'Event streams of one instance that may be open at once; one more answers 429. Each may hold up to 1 MB for a reader that is slow; 20 leave room for browsers that come back before their old connection is known to be gone.',
  ),
  streamHeartbeatMs: events(
    milliseconds(100),
    15_000,
    'Time between two comments on an event stream, while nothing else is sent. 15 s: proxies close what is silent for 30 s and more.',
  ),
  recorderMaxWaitMs: events(
    milliseconds(0, 1_000),
    4,
    'How long the recorder collects before it commits. 4 ms are not felt by anybody and turn a burst into a few transactions.',
  ),
  recorderMaxBatch: events(
    integer(1, 10_000),
    64,
    'Most items in one commit; what belongs together, such as a batch of 200 of the past, is one in any case. More made commits longer without making them cheaper per item.',
  ),
  ...mediaSettings,
  ...uploadSettings,
  ...proxySettings,
  ...fileSettings,
} as const;

type Table = typeof table;

/** What the environment gives; null where the program finds out by itself. */
export type Values = { readonly [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never };

/** `maxConnectedInstances` → `MAX_CONNECTED_INSTANCES`. */
export const nameOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Pairs of which the first may not be greater than the second. */
export const ranges: readonly (readonly [keyof Table, keyof Table])[] = [
  ['reconnectMinMs', 'reconnectMaxMs'],
  ['stopGraceMs', 'shutdownMs'],
  ['replacedRetryMinMs', 'replacedRetryMaxMs'],
  ['canaryMinMs', 'canaryMaxMs'],
  ['circuitMinMs', 'circuitMaxMs'],
];
