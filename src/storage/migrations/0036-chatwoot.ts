/** Adds the links between chats and conversations of Chatwoot, and between their messages. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table chatwoot_chat (
    instance_id text not null,
    chat_id text not null,
    inbox text not null,
    contact_id bigint not null,
    source_id text not null,
    conversation_id bigint not null,
    name text not null,
    image text not null,
    primary key (instance_id, chat_id)
  )`,
  `create index chatwoot_chat_conversation on chatwoot_chat (instance_id, conversation_id)`,
  `create table chatwoot_message (
    instance_id text not null,
    key text not null,
    inbox text not null,
    conversation_id bigint not null,
    id bigint not null,
    progress int not null,
    at bigint not null,
    primary key (instance_id, key)
  ) with (fillfactor = 80)`,
  `create index chatwoot_message_id on chatwoot_message (instance_id, id)`,
  `create index chatwoot_message_at on chatwoot_message (at)`,
];

export class Chatwoot extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table chatwoot_message');
    this.addSql('drop table chatwoot_chat');
  }
}
