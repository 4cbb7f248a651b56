/** Settings of the connector to Chatwoot. Its deliveries share places, retries and bounds with those of webhooks. */
import { age, integer, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

const chatwoot = group('Chatwoot');

export const chatwootSettings = {
  chatwootTimeoutMs: chatwoot(
    milliseconds(100, 600_000),
    20_000,
    'Time for one answer of a Chatwoot server; with a file, for each 10 MB of it. A busy installation takes seconds for a message with a file; 20 s forgive that, and a dead one holds its own places only.',
  ),
  chatwootFileBytes: chatwoot(
    integer(0, 1_000_000_000),
    40_000_000,
    'Largest file that goes to Chatwoot; of a larger one its address here does. Chatwoot itself takes 40 MB unless its operator says otherwise.',
  ),
  chatwootKeepDays: chatwoot(
    integer(1, 3_650),
    30,
    'How long it is known which messages stand on both sides, so that replies, edits, deletions and receipts find them. 30 days; a row takes 200 bytes.',
  ),
  chatwootReplyWaitMs: chatwoot(
    age(0),
    600_000,
    'How long what an agent wrote waits for a session that is away; then it is shown as failed. 10 min outlive a reconnect, and an agent learns of a logged out phone while the customer still waits.',
  ),
  chatwootSendsWaiting: chatwoot(
    integer(1, 1_000_000),
    2_000,
    'Messages of agents that may wait for one instance; one more answers 429, and Chatwoot shows it as failed. 2,000 are an hour of ten busy agents, at 2 KB each in the database.',
  ),
  chatwootSendsAtOnce: chatwoot(
    integer(1, 10_000),
    32,
    'Messages of agents that are being sent at once, of all instances. One takes a fraction of a second, or as long as its file; 32 are those of some hundred agents.',
  ),
  chatwootSendsPerInstance: chatwoot(
    integer(1, 1_000),
    4,
    'Messages of agents that one instance sends at once, in as many conversations. 4, so that files of one inbox hold up no other.',
  ),
} as const;
