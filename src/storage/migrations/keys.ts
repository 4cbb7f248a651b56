/** Migrations of keys, of the inbound log and of refused entries, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

// Stanzas that were received and whose messages may not be stored yet.

/** Rows live for milliseconds: the table is emptied as fast as it is filled, so its pages are swept early. */
export class Inbound extends Migration {
  override up(): void {
    this.addSql(`create table inbound (
      instance_id text not null,
      seq bigint not null,
      tries int not null,
      at bigint not null,
      sealed bytea not null,
      primary key (instance_id, seq),
      constraint inbound_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`);
  }

  override down(): void {
    this.addSql('drop table inbound');
  }
}

/** Entries that the database refused for their data. They are kept, sealed, until a person tries them again or discards them. */
export class RefusedEntries extends Migration {
  override up(): void {
    this.addSql(`create table refused_entry (
      instance_id text not null,
      id text not null,
      kind text not null,
      error text not null,
      tries int not null,
      at bigint not null,
      sealed bytea not null,
      primary key (instance_id, id)
    )`);
  }

  override down(): void {
    this.addSql('drop table refused_entry');
  }
}

/** Instances whose session ended and whose keys are being deleted, in pieces. */
export class LeavingKeys extends Migration {
  override up(): void {
    this.addSql('create table leaving_keys (instance_id text not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table leaving_keys');
  }
}

// Rows of the log of arrivals and of Signal keys are no longer checked against their instance one by one: every write of them checks who owns it.

const keyTables = ['inbound', 'signal_key'] as const;

export class NoKeyChecks extends Migration {
  override up(): void {
    for (const table of keyTables) this.addSql(`alter table ${table} drop constraint ${table}_instance_id_foreign`);
  }

  override down(): void {
    for (const table of keyTables) {
      this.addSql(`delete from ${table} where instance_id not in (select id from instance)`);
      this.addSql(
        `alter table ${table} add constraint ${table}_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade`,
      );
    }
  }
}
