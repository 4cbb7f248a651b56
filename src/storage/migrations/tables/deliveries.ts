/** The tables of webhooks and their deliveries. */
import { noteChanges } from './instances.ts';

const texts = ['webhook_id', 'instance_id', 'event_id', 'type', 'message_type', 'lane', 'body', 'error', 'tries'];
const eachText = texts.map((name) => `alter column "${name}" set storage main`).join(', ');

/**
 * Compresses the bodies of events. A body is JSON with long names and short values, and 2.3 KB become 0.9 KB. The storage `main` keeps the texts in the
 * row. With the default storage, PostgreSQL would move the short texts out of the row before it compresses the body. LZ4 is used if PostgreSQL supports it.
 */
export const compressedBodies: readonly string[] = [
  `alter table outbox ${eachText}`,
  `alter table archive ${eachText}`,
  `do $$ begin
    if exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)) then
      alter table outbox alter column body set compression lz4;
      alter table archive alter column body set compression lz4;
    end if;
  end $$`,
];

export const deliveryTables: readonly string[] = [
  `create table webhook (
    id text primary key,
    instance_id text null constraint webhook_instance_id_foreign references instance (id) on delete cascade,
    enabled boolean not null,
    url text not null,
    events text[] not null,
    exclude_messages text[] not null,
    add_url_events boolean not null,
    add_url_types_messages boolean not null,
    managed boolean not null,
    created bigint not null,
    private bytea null,
    removed boolean not null default false,
    changed bigint not null default '0'
  )`,
  'create index webhook_instance on webhook (instance_id)',
  'create index webhook_removed on webhook (id) where removed',
  'create index webhook_changed on webhook (changed)',
  ...noteChanges('webhook'),
  // Each write already checks the epoch of the instance. A foreign key would look up the instance once more for each row.
  `create table outbox (
    seq bigserial primary key,
    webhook_id text not null constraint outbox_webhook_id_foreign references webhook (id) on delete cascade,
    instance_id text not null,
    event_id text not null,
    type text not null,
    message_type text not null,
    lane text not null,
    body text not null,
    attempts int not null,
    at bigint not null,
    not_before bigint not null,
    status int not null default 0,
    error text not null default '',
    size int not null default 0,
    tries text not null default ''
  )`,
  'create index outbox_parked on outbox (webhook_id, instance_id, not_before) where not_before > 0',
  'create index outbox_waiting on outbox (webhook_id, instance_id, seq) where not_before = 0',
  'create index outbox_type on outbox (webhook_id, type, at, seq)',
  'create index outbox_held on outbox (webhook_id, instance_id, lane, not_before desc, seq) where not_before > 0',
  `create table archive (
    webhook_id text not null,
    dead boolean not null,
    at bigint not null,
    seq bigint not null,
    instance_id text not null,
    event_id text not null,
    type text not null,
    message_type text not null,
    lane text not null,
    body text not null,
    attempts int not null,
    status int not null,
    error text not null,
    ended_at bigint not null,
    tries text not null default '',
    primary key (webhook_id, dead, at, seq)
  )`,
  ...compressedBodies,
  `create table outbox_tally (
    id bigserial primary key,
    webhook_id text not null,
    waiting bigint not null default '0',
    parked bigint not null default '0',
    bytes bigint not null default '0',
    delivered bigint not null default '0',
    dead bigint not null default '0'
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
];
