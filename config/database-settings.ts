/** Settings of connections to the database, and of a node of a cluster. */
import { fixed, group, integer, milliseconds, nodeName, secretUrl, text } from './kinds.ts';

const database = group('Database connections');

export const databaseSettings = {
  databaseKeyConnections: database(
    integer(1, 100),
    5,
    'The connections that store credentials, Signal keys and received stanzas. Each kind of work has its own connections, so that none waits for another.',
  ),
  databaseJournalConnections: database(
    integer(1, 100),
    5,
    'The connections that store messages, records and deliveries. On 2 cores, 5 connections here and 5 for keys store three times as many messages a second as 1 and 1. More connections store no more.',
  ),
  databaseQueryConnections: fixed(4, 'The connections for lists and searches. Further queries wait for a free connection.'),
  databaseSweepConnections: fixed(
    2,
    'The connections that keep queues within their bounds, and that count, replay and remove rows. There are 2, so that a long removal does not delay the bounds.',
  ),
  databaseConnectionMs: fixed(3_000, 'The longest wait for a free connection of its kind, or for a new one.'),
  databaseStatementMs: database(
    milliseconds(100, 600_000),
    5_000,
    'The longest time of a statement, after which the database stops it. Statements of the gateway take milliseconds. The default of 5 s tolerates a busy disk.',
  ),
  databaseQueryMs: fixed(
    2_000,
    'The time of one statement of a list or search of a client, in place of DATABASE_STATEMENT_MS. The slowest takes about 100 ms over 60,000 chats. Two seconds end a statement that would hold a connection from others. An instance has at most two statements at once.',
  ),
} as const;

// Settings of a gateway that is one node of several.

const cluster = group('Several nodes');

export const clusterSettings = {
  nodeName: cluster(
    nodeName,
    null,
    'The name of this gateway among several that share DATABASE_URL, ENCRYPTION_KEY and NATS_URL. Each has its own. Without a value it is the name of the machine if NATS_URL is set. Without both, this gateway is the only one on its database. MAX_CONNECTED_INSTANCES is the capacity of the node.',
  ),
  natsUrl: cluster(
    secretUrl('nats:', 'tls:'),
    null,
    'The NATS server that carries commands between nodes, so that any node takes any request: `nats://user:password@host:4222`. The server sees the data that clients see, so keep it inside your network or behind TLS. Without a value a node answers 503 for instances of other nodes.',
  ),
  natsPrefix: cluster(text, 'dormouse', 'The first part of the subjects on NATS. Clusters that share a NATS server need a prefix each.'),
  streamKeptMs: fixed(
    300_000,
    'The time for which NATS keeps the events of an instance after its stream was last read, so that Last-Event-ID works at any node. Five minutes are longer than a failover, an upgrade of a node or a phone without a network. JetStream is needed.',
  ),
  streamKeptBytes: cluster(
    integer(1_048_576, 1_099_511_627_776),
    67_108_864,
    'The memory that NATS gives to these events, for all instances together. The oldest are removed first. 64 MiB are 40,000 events or more. At most 1000 events of one instance are kept.',
  ),
  streamKeptReplicas: cluster(
    integer(1, 5),
    1,
    'The servers of a NATS cluster that keep these events. Each further copy makes every event more expensive, and only saves readers a `gap` when a NATS server fails.',
  ),
  clusterHandshakesPerSecond: cluster(
    integer(1, 10_000),
    20,
    'The connections that all nodes together may start in a second, and a quarter more in the first second after a pause. Sessions also leave a draining node at most at this pace. At 20 a second, the 200 sessions of a dead node are back 10 s after its lease of 15 s. The platform sees a restart of all nodes as four gateways that stand alone.',
  ),
  drainMs: cluster(
    milliseconds(0, 3_600_000),
    20_000,
    'The time that a stop gives sessions to move to other nodes, before the rest is closed. It is added to SHUTDOWN_MS. 20 s move 200 sessions. The stop time of a container (`terminationGracePeriodSeconds`, `stop_grace_period`) must be longer than both together.',
  ),
} as const;
