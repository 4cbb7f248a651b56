/** Settings of connections to the database. */
import { integer, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

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
  databaseQueryMs: database(
    milliseconds(100, 600_000),
    2_000,
    'Time of one statement of a list or search that a client asks for, in place of DATABASE_STATEMENT_MS. The slowest takes some 100 ms over 60,000 chats; two seconds end one that would hold a connection from others. An instance has at most two at once, whatever it asks.',
  ),
} as const;
