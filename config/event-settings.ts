/** Settings of events and webhooks. */
import { age, fixed, group, integer, milliseconds, networks, times } from './kinds.ts';

const events = group('Events and webhooks');

export const eventSettings = {
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
    'Waits before the later attempts; the later events of the chat wait for them in the database. Together they cover 20 hours, so that a night without anybody on call loses nothing.',
  ),
  circuitFailures: events(
    integer(1, 10_000),
    10,
    'Failures in a row that open the circuit of a webhook. Ten are no accident, and a dead receiver then costs one probe at a time.',
  ),
  circuitMinMs: events(milliseconds(), 30_000, 'First pause before a probe of an open circuit; doubles up to CIRCUIT_MAX_MS.'),
  circuitMaxMs: events(milliseconds(), 600_000, 'Longest pause between two probes. 10 min find a receiver soon that is back.'),
  webhookRetryAfterMaxMs: fixed(
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
  webhookInMemory: fixed(
    512,
    'Deliveries of one webhook and instance that are held in memory; the rest waits in the database. Enough to keep every lane busy, and 1 MB at 2 KB each.',
  ),
  webhookInMemoryBytes: fixed(
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
  recorderMaxWaitMs: fixed(
    4,
    'How long the recorder collects before it commits. 4 ms are not felt by anybody and turn a burst into a few transactions.',
  ),
  recorderMaxBatch: fixed(
    64,
    'Most items in one commit; what belongs together, such as a batch of 200 of the past, is one in any case. More made commits longer without making them cheaper per item.',
  ),
} as const;
