/** Migrations of deliveries, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from './concurrent.ts';

// Adds the columns and the archive for listing and repeating deliveries, and the secret and the headers of webhooks.

const deliveryStatements = [
  `alter table webhook add column private bytea null`,
  `alter table outbox add column status int not null default 0`,
  `alter table outbox add column error text not null default ''`,
  `alter table outbox add column size int not null default 0`,
  `update outbox set size = octet_length(body)`,
  `drop index outbox_lane`,
  `create index outbox_lane on outbox (webhook_id, instance_id, seq) include (not_before, size, at)`,
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
    primary key (webhook_id, dead, at, seq)
  ) with (toast_tuple_target = 8160)`,
  `alter table archive alter column body set storage external`,
];

export class Deliveries extends Migration {
  override up(): void {
    for (const statement of deliveryStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table archive');
    this.addSql('drop index outbox_lane');
    this.addSql('alter table outbox drop column size, drop column error, drop column status');
    this.addSql('create index outbox_lane on outbox (webhook_id, instance_id, seq) include (not_before)');
    this.addSql('alter table webhook drop column private');
  }
}

// Adds the tallies of deliveries, and indexes that begin with the columns of the queries.

const tallyStatements = [
  `create table outbox_tally (
    id bigserial primary key,
    webhook_id text not null,
    waiting bigint not null default '0',
    parked bigint not null default '0',
    bytes bigint not null default '0',
    delivered bigint not null default '0',
    dead bigint not null default '0'
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  `insert into outbox_tally (webhook_id, waiting, parked, bytes)
    select webhook_id, count(*) filter (where not_before = 0), count(*) filter (where not_before > 0), sum(size) from outbox group by webhook_id`,
  `insert into outbox_tally (webhook_id, delivered, dead)
    select webhook_id, count(*) filter (where not dead), count(*) filter (where dead) from archive group by webhook_id`,
  // Each write of an instance checks its epoch. A foreign key would look up the instance once more for each row.
  `alter table outbox drop constraint outbox_instance_id_foreign`,
  `drop index outbox_instance`,
  `drop index outbox_lane`,
  `create index outbox_waiting on outbox (webhook_id, instance_id, seq) where not_before = 0`,
  `create index outbox_type on outbox (webhook_id, type, at, seq)`,
];

export class Tallies extends Migration {
  override up(): void {
    for (const statement of tallyStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index outbox_type');
    this.addSql('drop index outbox_waiting');
    this.addSql('create index outbox_lane on outbox (webhook_id, instance_id, seq) include (not_before, size, at)');
    this.addSql('create index outbox_instance on outbox (instance_id)');
    this.addSql('delete from outbox where instance_id not in (select id from instance)');
    this.addSql(
      'alter table outbox add constraint outbox_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade',
    );
    this.addSql('drop table outbox_tally');
  }
}

/** Adds the index that finds the parked rows of a lane. A parked row blocks the later rows of its lane. */
export class HeldLanes extends ConcurrentIndexes {
  protected override readonly indexes = [
    'outbox_held on outbox (webhook_id, instance_id, lane, not_before desc, seq) where not_before > 0',
  ];
}

/** Adds the attempts of a delivery, for display. Rows without attempts have an empty text. */
export class Tries extends Migration {
  override up(): void {
    for (const table of ['outbox', 'archive']) this.addSql(`alter table ${table} add column tries text not null default ''`);
  }

  override down(): void {
    for (const table of ['outbox', 'archive']) this.addSql(`alter table ${table} drop column tries`);
  }
}

// Compresses the bodies of events. A body is JSON with long names and short values, and 2.3 KB become 0.9 KB. The server compresses a body when it enters
// the outbox, and the archive gets the compressed form. The change is invisible to nodes of the last release.

const texts = ['webhook_id', 'instance_id', 'event_id', 'type', 'message_type', 'lane', 'body', 'error', 'tries'] as const;
const bodyTables = ['outbox', 'archive'] as const;

const eachText = (change: string): string => texts.map((name) => `alter column "${name}" ${change}`).join(', ');

/**
 * Gives the texts of a row the storage `main`, which keeps them in the row. With the default storage, the server would move the short texts out of the
 * row before it compresses the body. LZ4 is used if the server has it.
 */
export class CompressedBodies extends Migration {
  override up(): void {
    for (const table of bodyTables) this.addSql(`alter table ${table} ${eachText('set storage main')}, reset (toast_tuple_target)`);
    this.addSql(`do $$ begin
      if exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)) then
        ${bodyTables.map((table) => `alter table ${table} alter column body set compression lz4;`).join('\n        ')}
      end if;
    end $$`);
  }

  override down(): void {
    for (const table of bodyTables) {
      const unchanged =
        'alter column body set storage external, alter column body set compression default, set (toast_tuple_target = 8160)';
      this.addSql(`alter table ${table} ${eachText('set storage extended')}, ${unchanged}`);
    }
  }
}
