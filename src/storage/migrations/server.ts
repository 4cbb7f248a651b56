/** Migrations of nodes, users, the audit log, alerts and figures. */
import { Migration } from '@mikro-orm/migrations';

// Migrations of nodes, in the order of their numbers.

// Adds nodes, leases of instances, and the rate limit of handshakes in the whole cluster.

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

// Adds the version of the last change to instances and webhooks, so that a node finds changes by one index look-up. Columns that a running session
// writes (its epoch and its times) do not count as changes.

const own = ['epoch', 'last_active_at', 'updated', 'changed', 'last_disconnect', 'last_disconnect_reason', 'last_disconnect_cause'];

/** Returns SQL for the other columns of a row, including columns of later migrations. */
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

// Adds sign-ins to the dashboard that are valid on every node, and the index for the number of recent lease changes.

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

/** Adds the mark of nodes that sign their messages on the bus. Nodes of the last release do not sign, and do not write the column. */
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
 * Adds the mark of nodes that can read values sealed under keys of instances. The mark is the node's incarnation, because a node of an older release
 * does not write the column.
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

// Adds users of the dashboard, the owners of sign-ins, and the audit log.

const statements = [
  `create table gateway_user (
    id text primary key,
    name text not null constraint gateway_user_name_unique unique,
    role text not null,
    password bytea not null,
    code_secret bytea null,
    code_step bigint not null default '0',
    version text not null,
    created_at bigint not null,
    last_sign_in_at bigint not null default '0'
  )`,
  'alter table sign_in add column user_id text null',
  'alter table sign_in add column address text null',
  'alter table sign_in add column since bigint null',
  'create index sign_in_user on sign_in (user_id)',
  `create table audit_entry (
    id bigserial primary key,
    at bigint not null,
    actor text not null,
    of_token boolean not null,
    who text not null,
    address text not null,
    method text not null,
    route text not null,
    instance_id text not null,
    subject text not null,
    status int not null
  )`,
  'create index audit_entry_at on audit_entry (at)',
  'create index audit_entry_of_token on audit_entry (of_token, id)',
  'create index audit_entry_who on audit_entry (who, id)',
  'create index audit_entry_instance on audit_entry (instance_id, id)',
];

export class People extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table audit_entry');
    this.addSql('drop index sign_in_user');
    for (const column of ['user_id', 'address', 'since']) this.addSql(`alter table sign_in drop column ${column}`);
    this.addSql('drop table gateway_user');
  }
}

/** Adds alerts with their settings and state, and the troubles that each node reports. */
export class Alerts extends Migration {
  override up(): void {
    this.addSql(`create table alert (
      id text primary key,
      settings jsonb not null,
      secrets bytea not null,
      state text null,
      version int not null default 0
    )`);
    this.addSql(`create table node_trouble (
      node text primary key,
      at bigint not null,
      started_at bigint not null,
      troubles jsonb not null
    )`);
  }

  override down(): void {
    this.addSql('drop table node_trouble');
    this.addSql('drop table alert');
  }
}

/** Adds the figures of nodes by the minute. */
export class Figures extends Migration {
  override up(): void {
    this.addSql(`create table node_figure (
      minute int not null,
      node text not null,
      span_ms int not null,
      received int not null,
      sent int not null,
      delivered int not null,
      failed int not null,
      reconnects int not null,
      memory_bytes bigint not null,
      loop_ms int not null,
      constraint node_figure_pkey primary key (minute, node)
    )`);
  }

  override down(): void {
    this.addSql('drop table node_figure');
  }
}
