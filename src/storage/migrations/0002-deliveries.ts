/** Deliveries that can be looked at and sent again; webhooks with a secret and headers of their own. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
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
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table archive');
    this.addSql('drop index outbox_lane');
    this.addSql('alter table outbox drop column size, drop column error, drop column status');
    this.addSql('create index outbox_lane on outbox (webhook_id, instance_id, seq) include (not_before)');
    this.addSql('alter table webhook drop column private');
  }
}
