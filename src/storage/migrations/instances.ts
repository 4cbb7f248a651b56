/** Migrations of instances, of keys, of the inbound log and of refused entries. */
import { Migration } from '@mikro-orm/migrations';

// Migrations of instances, in the order of their numbers.

/** Adds the mark of removed instances and webhooks, whose rows are then deleted in batches. */
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

// Drops the foreign keys of messages and chats. They check each row, and every write already checks that its writer owns the instance.

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

/** Adds the proxy of an instance. It is sealed, because its address contains a password. */
export class Proxies extends Migration {
  override up(): void {
    this.addSql('alter table instance add column proxy bytea null');
  }

  override down(): void {
    this.addSql('alter table instance drop column proxy');
  }
}

/** Adds the names of the browser and the system that an instance shows to the platform. '' means the default. */
export class DeviceNames extends Migration {
  override up(): void {
    this.addSql(`alter table instance add column browser text not null default '', add column system text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table instance drop column browser, drop column system');
  }
}

/** Adds the last steps of each session through its charts, which the dashboard shows after a restart. */
export class StepLog extends Migration {
  override up(): void {
    this.addSql('create table step_log (instance_id text not null, steps jsonb not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table step_log');
  }
}

/** Adds one-time codes, with which the browser of an account's owner answers the platform's passkey request. */
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

/** Adds the mark of an instance whose account is being removed. Its remaining data must not be used any more. */
export class LeavingAccounts extends Migration {
  override up(): void {
    this.addSql('alter table instance add column account_leaves boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table instance drop column account_leaves');
  }
}

// Migrations of keys, of the inbound log and of refused entries, in the order of their numbers.

// The inbound log: received stanzas whose messages may not be stored yet.

/** Adds the inbound log. Its rows live for milliseconds, so the table gets an early autovacuum. */
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

/** Adds entries that the database refused because of their data. They are sealed, and stay until an operator retries or discards them. */
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

/** Adds the list of instances whose session ended and whose keys are being deleted in batches. */
export class LeavingKeys extends Migration {
  override up(): void {
    this.addSql('create table leaving_keys (instance_id text not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table leaving_keys');
  }
}

// Drops the foreign keys of the inbound log and of Signal keys, because every write already checks that its writer owns the instance.

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
