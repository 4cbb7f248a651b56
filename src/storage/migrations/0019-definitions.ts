/** Adds the definitions of an instance: labels, quick replies, tags of leads. Chats with labels get an index. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table definition (
    instance_id text not null,
    kind text not null,
    id text not null,
    value jsonb not null,
    created bigint not null,
    updated bigint not null,
    primary key (instance_id, kind, id)
  )`,
  `create index chat_by_label on chat (instance_id, last_message_timestamp, chat_id) where labels <> '{}'`,
];

export class Definitions extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_label');
    this.addSql('drop table definition');
  }
}
