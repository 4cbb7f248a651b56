/** Several gateways on one database: which nodes live, which of them owns an instance, and how many handshakes all of them may start. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
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
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    for (const table of ['admission', 'lease', 'node']) this.addSql(`drop table ${table}`);
  }
}
