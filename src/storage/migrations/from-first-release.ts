/**
 * The upgrade of a database of the first release (commit 3a66d80) to the tables of the baseline. A migration locks the tables of one subject only, because the
 * statements of nodes that work meanwhile wait behind its locks.
 */
import { ConcurrentIndexes } from './concurrent.ts';
import { step, type ListedMigration } from './step.ts';
import { compressedBodies } from './tables/deliveries.ts';
import { sessionTables } from './tables/instances.ts';
import { receiptCountTables } from './tables/messages.ts';
import { operatorTables } from './tables/server.ts';

/** Binds the stored keys of agents to the services of their agents. */
export const bindKeys = `update chatbot_key set provider = value->>'provider', base_url = coalesce(value->>'baseUrl', '') from definition
  where definition.instance_id = chatbot_key.instance_id and kind = 'chatbotAgent' and definition.id = chatbot_key.agent_id and provider is null`;

class Indexes extends ConcurrentIndexes {
  protected override readonly indexes = [
    'outbox_held on outbox (webhook_id, instance_id, lane, not_before desc, seq) where not_before > 0',
    'chat_short_id on chat (instance_id, id)',
    `campaign_paused on campaign (updated) where status = 'paused'`,
  ];
}

export const upgrade: readonly ListedMigration[] = [
  step('0049-new-tables', [...sessionTables, ...receiptCountTables, ...operatorTables]),
  step('0050-instances', [
    `alter table instance add column browser text not null default '', add column system text not null default '',
      add column account_leaves boolean not null default false`,
  ]),
  step('0051-messages', ['alter table message add column starred boolean not null default false']),
  // Every write already checks that its writer owns the instance.
  step('0052-no-key-checks', [
    'alter table inbound drop constraint inbound_instance_id_foreign',
    'alter table signal_key drop constraint signal_key_instance_id_foreign',
  ]),
  step('0053-deliveries', [
    ...['outbox', 'archive'].flatMap((table) => [
      `alter table ${table} add column tries text not null default ''`,
      `alter table ${table} reset (toast_tuple_target)`,
    ]),
    ...compressedBodies,
  ]),
  step('0054-nodes', [
    `alter table node add column astray int not null default 0, add column signs boolean not null default false, add column derives uuid null,
      add column ended boolean not null default false, add column bus boolean null`,
  ]),
  step('0055-sign-ins', [
    'alter table sign_in add column user_id text null, add column address text null, add column since bigint null',
    'create index sign_in_user on sign_in (user_id)',
  ]),
  step('0056-agent-keys', ['alter table chatbot_key add column provider text null, add column base_url text null', bindKeys]),
  step('0057-chatwoot-replies', ['alter table chatwoot_reply add column begun int not null default 0']),
  { name: '0058-indexes', class: Indexes },
];
