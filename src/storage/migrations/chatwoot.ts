/** Migrations of the connector to Chatwoot, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

// Adds the links between chats and conversations of Chatwoot, and between their messages.

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

/** Adds the replies of agents in Chatwoot that are not sent yet. */
export class ChatwootReplies extends Migration {
  override up(): void {
    this.addSql(`create table chatwoot_reply (
      instance_id text not null,
      id bigint not null,
      kind text not null,
      inbox text not null,
      seq bigserial,
      conversation_id bigint not null,
      news jsonb not null,
      at bigint not null,
      not_before bigint not null,
      attempts int not null,
      failure text not null,
      primary key (instance_id, id, kind)
    )`);
    this.addSql('create index chatwoot_reply_lane on chatwoot_reply (instance_id, conversation_id, seq)');
  }

  override down(): void {
    this.addSql('drop table chatwoot_reply');
  }
}

/** Parts of agents' messages that will not be sent, and why. Stored before the parts after them are tried. */
export class ChatwootRefused extends Migration {
  override up(): void {
    this.addSql(`alter table chatwoot_reply add column refused jsonb not null default '[]'`);
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column refused');
  }
}

/** Tries of an agent's message that began and did not end, so that a message that kills the process is set aside. */
export class ChatwootTries extends Migration {
  override up(): void {
    this.addSql('alter table chatwoot_reply add column begun int not null default 0');
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column begun');
  }
}
