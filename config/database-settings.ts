/** Settings of connections to the database, and of a gateway that is one node of several. */
import { fixed, group, integer, milliseconds, nodeName, secretUrl, text } from './kinds.ts';

// Settings of connections to the database.

const database = group('Database connections');

export const databaseSettings = {
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
  databaseQueryMs: fixed(
    2_000,
    'Time of one statement of a list or search that a client asks for, in place of DATABASE_STATEMENT_MS. The slowest takes some 100 ms over 60,000 chats; two seconds end one that would hold a connection from others. An instance has at most two at once, whatever it asks.',
  ),
} as const;

// Settings of a gateway that is one node of several.

const cluster = group('Several nodes');

export const clusterSettings = {
  nodeName: cluster(
    nodeName,
    null,
    'Name of this gateway among several that share DATABASE_URL, ENCRYPTION_KEY and NATS_URL; each has its own. Absent, it is the name of the machine where NATS_URL is set, and else this gateway has its database for itself. MAX_CONNECTED_INSTANCES is the capacity of the node.',
  ),
  natsUrl: cluster(
    secretUrl('nats:', 'tls:'),
    null,
    'NATS server that carries commands between nodes, so that any node takes any request: `nats://user:password@host:4222`. It sees what clients see, so it stands inside the own network or behind TLS. Absent, a node answers 503 for instances of others.',
  ),
  natsPrefix: cluster(text, 'dormouse', 'First part of the subjects on NATS. Clusters that share a server have one each.'),
  streamKeptMs: cluster(
    milliseconds(10_000, 86_400_000),
    300_000,
    'How long NATS keeps the events of an instance whose stream is read, or was read that long ago, so that Last-Event-ID goes on at any node. Five minutes are longer than a failover, an upgrade of a node or a phone without a network. Needs JetStream.',
  ),
  streamKeptBytes: cluster(
    integer(1_048_576, 1_099_511_627_776),
    67_108_864,
    'Memory that NATS gives to these events, of all instances together; the oldest go first. 64 MiB are 40,000 events or more, and of one instance at most 1000 are kept.',
  ),
  streamKeptReplicas: cluster(
    integer(1, 5),
    1,
    'Servers of a NATS cluster that keep these events. A copy more makes every event dearer, and only saves readers a `gap` when a NATS server fails.',
  ),
  clusterHandshakesPerSecond: cluster(
    integer(1, 10_000),
    20,
    'Connections that all nodes together may start in a second, and a quarter more in the first one after a pause. Sessions also leave a draining node at most at this pace. 20 a second bring the 200 sessions of a dead node back in 10 s after its lease of 15 s, and a restart of everything looks to the platform like four gateways that stand alone.',
  ),
  drainMs: cluster(
    milliseconds(0, 3_600_000),
    20_000,
    'How long a stop lets sessions move to other nodes, before those that are left are closed; added to SHUTDOWN_MS. 20 s move 200 sessions. The time that a container is given to stop (`terminationGracePeriodSeconds`, `stop_grace_period`) must be longer than both together.',
  ),
} as const;
