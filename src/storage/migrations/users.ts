/** Users of the dashboard, the owners of its sessions, and the audit log. */
import { Migration } from '@mikro-orm/migrations';

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
