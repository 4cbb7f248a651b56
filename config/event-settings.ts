/** Settings of events and webhooks. */
import { age, fixed, group, integer, milliseconds, networks, times } from './kinds.ts';

const events = group('Events and webhooks');

export const eventSettings = {
  allowPrivateReceivers: events(
    networks,
    [],
    'The private networks in which webhooks and fetched addresses may lie. It is a list of `private` (RFC 1918, carrier and unique local networks), `loopback` and subnets. `true` stands for both words. The default is `none`, because a holder of an instance token could reach servers behind the firewall.',
  ),
  webhookTimeoutMs: events(
    milliseconds(100),
    10_000,
    'The time for a receiver to answer, from the connection to the end of the body. A receiver should answer quickly and work afterwards.',
  ),
  webhookConcurrency: events(
    integer(1, 1_000),
    8,
    'The chats whose events go to one webhook in parallel. With a receiver that answers in 50 ms, 8 chats make 160 events a second. Such a rate does not flood a small receiver.',
  ),
  webhookQuickRetriesMs: events(
    times,
    [0, 1_500, 5_000],
    'The waits before the first attempts, while the chat of the event waits. Three attempts over a few seconds outlive a restart of most receivers.',
  ),
  webhookSlowRetriesMs: events(
    times,
    [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000],
    'The waits before the later attempts. Later events of the chat wait in the database. Together the waits cover 20 hours, so that a night without anybody on call loses nothing.',
  ),
  circuitFailures: fixed(
    10,
    'The consecutive failures that open the circuit of a webhook. Ten failures in a row are no accident. A dead receiver then costs one probe at a time.',
  ),
  circuitMinMs: fixed(30_000, 'The first pause before a probe of an open circuit. The pause doubles up to `circuitMaxMs`.'),
  circuitMaxMs: fixed(600_000, 'The longest pause between two probes. A pause of 10 min finds a receiver soon after it is back.'),
  webhookRetryAfterMaxMs: fixed(
    3_600_000,
    'The longest `Retry-After` of a receiver that is honoured. A receiver that asks for more than an hour probably has a broken clock.',
  ),
  webhookPostsAtOnce: fixed(
    512,
    'The posts of all webhooks together that may be open. Each holds a socket and about 20 KB. A receiver that fails gets one post at a time.',
  ),
  webhookPostsPerHost: events(
    integer(1, 10_000),
    64,
    'The posts to one host that may be open, for all webhooks. Many instances often share one receiver. 64 posts of 50 ms make 1,280 events a second.',
  ),
  webhookInMemory: fixed(
    512,
    'The deliveries of one webhook and instance that are held in memory. The rest waits in the database. The bound keeps every lane busy, and is 1 MB at 2 KB each.',
  ),
  webhookInMemoryBytes: fixed(
    4_194_304,
    'The bytes of events that may be held in memory for one webhook and instance. One event is always held. 4 MiB are 512 events of 8 KB. Without the bound, 512 batches of history would be 128 MB.',
  ),
  webhookQueueRows: events(
    integer(1, 100_000_000),
    100_000,
    'The deliveries that may wait for one webhook. Beyond it the gateway drops presence and history first, messages last, and the oldest within a type. 100,000 are a day at one event a second.',
  ),
  webhookQueueBytes: events(
    integer(1024, 1_000_000_000_000),
    268_435_456,
    'The bytes of the events that may wait for one webhook. 256 MiB are the 100,000 deliveries at 2.6 KB. This is the disk that a dead receiver may cost.',
  ),
  webhookQueueAgeMs: events(
    age(60_000),
    604_800_000,
    'The age from which events are no longer delivered. The default is a week, so that a receiver that was forgotten over holidays still gets all events.',
  ),
  webhookKeepRows: events(
    integer(0, 10_000_000),
    10_000,
    'The past deliveries of one webhook that are kept for a replay, for delivered and for dead ones each. At 2 KB, 10,000 are 20 MB for each kind.',
  ),
  webhookKeepDeliveredMs: events(
    age(0),
    86_400_000,
    'The age of an event until which it can be sent again after it was delivered. 0 keeps none. A bug of a receiver is noticed within a day. An event costs the database 5 µs, and 2 KB of its log.',
  ),
  webhookKeepDeadMs: events(
    age(0),
    604_800_000,
    'The age of an event until which it can be sent again after all attempts failed. 0 keeps none. The default is a week, as for the queue.',
  ),
  webhookSweepMs: fixed(
    10_000,
    'The interval at which the bounds above are applied. In 10 s a busy instance adds a few thousand deliveries, a small part of the bound.',
  ),
  webhooksPerInstance: fixed(
    20,
    'The webhooks that one instance may have. A further one is refused. Each event is stored once for each of them. Known installations have a handful.',
  ),
  streamsPerToken: fixed(
    20,
    'The event streams of one instance that may be open at once. A further one gets 429. Each may hold up to 1 MB for a slow reader. 20 leave room for browsers that return before the end of their old connection is noticed.',
  ),
  streamHeartbeatMs: fixed(
    15_000,
    'The time between two comments on an event stream without events. The time is 15 s, because proxies close connections that are silent for 30 s.',
  ),
  recorderMaxWaitMs: fixed(
    4,
    'The time for which the recorder collects items before a commit. A delay of 4 ms is not noticed, and turns a burst into a few transactions.',
  ),
  recorderMaxBatch: fixed(
    64,
    'The largest number of items in one commit. Items that belong together, such as a batch of 200 of the history, are one commit in any case. More items made commits longer without making them cheaper per item.',
  ),
} as const;
