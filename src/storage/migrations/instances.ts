/** Migrations of instances, of keys, of the inbound log and of refused entries. */
import { Migration } from '@mikro-orm/migrations';

// Migrations of instances, in the order of their numbers.

/** Instances and webhooks that were removed and whose rows go in pieces. */
export class Removals extends Migration {
  override up(): void {
    for (const table of ['instance', 'webhook']) {
      this.addSql(`alter table ${table} add column removed boolean not null default false`);
      this.addSql(`create index ${table}_removed on ${table} (id) where removed`);
    }
  }

  override down(): void {
    for (const table of ['instance', 'webhook']) this.addSql(`alter table ${table} drop column removed`);
  }
}

// Rows of messages and chats are no longer checked against their instance one by one: every write of them checks who owns the instance.

const tables = ['message', 'chat'] as const;

export class NoInstanceKeys extends Migration {
  override up(): void {
    for (const table of tables) this.addSql(`alter table ${table} drop constraint ${table}_instance_id_foreign`);
  }

  override down(): void {
    for (const table of tables) {
      this.addSql(`delete from ${table} where instance_id not in (select id from instance)`);
      this.addSql(
        `alter table ${table} add constraint ${table}_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade`,
      );
    }
  }
}

/** The proxy of an instance, sealed: its address holds a password. */
export class Proxies extends Migration {
  override up(): void {
    this.addSql('alter table instance add column proxy bytea null');
  }

  override down(): void {
    this.addSql('alter table instance drop column proxy');
  }
}

/** Adds the browser and the system as which an instance presents itself; '' means the default. */
export class DeviceNames extends Migration {
  override up(): void {
    this.addSql(`alter table instance add column browser text not null default '', add column system text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table instance drop column browser, drop column system');
  }
}

/** The last steps of each session through its charts, for the dashboard after a restart. */
export class StepLog extends Migration {
  override up(): void {
    this.addSql('create table step_log (instance_id text not null, steps jsonb not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table step_log');
  }
}

/** One-time codes by which the browser of an account's owner answers the platform's request for a passkey. */
export class PasskeyCodes extends Migration {
  override up(): void {
    this.addSql(`create table passkey_code (
      instance_id text primary key constraint passkey_code_instance_id_foreign references instance (id) on update no action on delete cascade,
      hash text not null constraint passkey_code_hash_unique unique,
      used boolean not null,
      until bigint not null
    )`);
  }

  override down(): void {
    this.addSql('drop table passkey_code');
  }
}

/** The account of an instance leaves: what it had is being removed, and nothing of it is used any more. */
export class LeavingAccounts extends Migration {
  override up(): void {
    this.addSql('alter table instance add column account_leaves boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table instance drop column account_leaves');
  }
}

// Migrations of keys, of the inbound log and of refused entries, in the order of their numbers.

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
