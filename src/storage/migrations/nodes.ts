/** Migrations of nodes, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

// Several gateways on one database: which nodes live, which of them owns an instance, and how many handshakes all of them may start.

const nodeStatements = [
  `create table node (
    name text primary key,
    incarnation uuid not null constraint node_incarnation_unique unique,
    until bigint not null,
    capacity int not null,
    load int not null,
    draining boolean not null,
    version text not null,
    started bigint not null
  )`,
  `create table lease (
    instance_id text primary key constraint lease_instance_id_foreign references instance (id) on update no action on delete cascade,
    incarnation uuid not null,
    epoch int not null,
    since bigint not null,
    cause text not null
  )`,
  'create index lease_incarnation on lease (incarnation)',
  'create table admission (name text primary key, at double precision not null)',
  `insert into admission (name, at) values ('handshakes', 0)`,
];

export class Nodes extends Migration {
  override up(): void {
    for (const statement of nodeStatements) this.addSql(statement);
  }

  override down(): void {
    for (const table of ['admission', 'lease', 'node']) this.addSql(`drop table ${table}`);
  }
}

// Instances and webhooks carry the version in which they changed last, so that every node learns of changes by one look at an index. What a
// session at work writes of itself (its epoch and its times) is no change.

const own = ['epoch', 'last_active_at', 'updated', 'changed', 'last_disconnect', 'last_disconnect_reason', 'last_disconnect_cause'];

/** The rest of a row, columns of later migrations among it. */
const rest = (row: string): string => `(to_jsonb(${row}) - array[${own.map((name) => `'${name}'`).join(', ')}])`;

const versionStatements = [
  'create sequence change_version',
  `create function note_change() returns trigger language plpgsql as $$ begin new.changed = nextval('change_version'); return new; end $$`,
  ...['instance', 'webhook'].flatMap((table) => [
    `alter table ${table} add column changed bigint not null default '0'`,
    `create index ${table}_changed on ${table} (changed)`,
    `create trigger ${table}_made before insert on ${table} for each row execute function note_change()`,
    `create trigger ${table}_changed before update on ${table} for each row when (${rest('old')} is distinct from ${rest('new')})
      execute function note_change()`,
  ]),
];

export class Versions extends Migration {
  override up(): void {
    for (const statement of versionStatements) this.addSql(statement);
  }

  override down(): void {
    for (const table of ['instance', 'webhook']) {
      this.addSql(`drop trigger ${table}_made on ${table}`);
      this.addSql(`drop trigger ${table}_changed on ${table}`);
      this.addSql(`alter table ${table} drop column changed`);
    }
    this.addSql('drop function note_change()');
    this.addSql('drop sequence change_version');
  }
}

// Sign-ins to the dashboard that count on every node, and how often leases changed their owner lately.

const signInStatements = [
  'create table sign_in (key text primary key, admin text not null, until bigint not null)',
  'create index sign_in_until on sign_in (until)',
  'create index lease_since on lease (since)',
];

export class SignIns extends Migration {
  override up(): void {
    for (const statement of signInStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index lease_since');
    this.addSql('drop table sign_in');
  }
}

/** Adds the mark of nodes that sign what they send over the bus. Nodes of the last release do not sign, and leave the column as it is. */
export class SigningNodes extends Migration {
  override up(): void {
    this.addSql('alter table node add column signs boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table node drop column signs');
  }
}

/** Adds the number of leases of a node that differ from its sessions, for the dashboard. */
export class NodesAstray extends Migration {
  override up(): void {
    this.addSql('alter table node add column astray int not null default 0');
  }

  override down(): void {
    this.addSql('alter table node drop column astray');
  }
}

/** Adds the mark of a node whose lease has ended. Another node sets the mark, because the clock of the database may step. */
export class NodesEnded extends Migration {
  override up(): void {
    this.addSql('alter table node add column ended boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table node drop column ended');
  }
}

/**
 * Adds the mark of nodes that read values sealed under keys of instances (their incarnation). A node of an older release leaves the column
 * as it is.
 */
export class NodesDerive extends Migration {
  override up(): void {
    this.addSql('alter table node add column derives uuid null');
  }

  override down(): void {
    this.addSql('alter table node drop column derives');
  }
}

/** Adds the mark of nodes that reach the bus, for the dashboard. */
export class NodesBus extends Migration {
  override up(): void {
    this.addSql('alter table node add column bus boolean null');
  }

  override down(): void {
    this.addSql('alter table node drop column bus');
  }
}
