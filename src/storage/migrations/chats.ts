/** Migrations of chats, of definitions and of channels, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from './concurrent.ts';

/** Chats are found by their LID too. */
export class ChatLids extends Migration {
  override up(): void {
    this.addSql(`create index chat_by_lid on chat (instance_id, chat_lid) where chat_lid <> ''`);
  }

  override down(): void {
    this.addSql('drop index chat_by_lid');
  }
}

// Adds the definitions of an instance: labels, quick replies, tags of leads. Chats with labels get an index.

const definitionStatements = [
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
    for (const statement of definitionStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_label');
    this.addSql('drop table definition');
  }
}

// Two indexes of few chats: those of two people whose messages disappear, which a login reads, and those that carry tags of leads.

const timerStatements = [
  `create index chat_by_timer on chat (instance_id, chat_id) include (ephemeral_expiration) where ephemeral_expiration > 0 and not is_group`,
  `create index chat_by_lead_tag on chat (instance_id, chat_id) where extra -> 'lead_tags' is not null`,
];

export class TimersAndTags extends Migration {
  override up(): void {
    for (const statement of timerStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_lead_tag');
    this.addSql('drop index chat_by_timer');
  }
}

// Posts of channels know their number, views and reactions, and are found by their number.

const postStatements = [
  'alter table message add column post jsonb null',
  `create index message_by_post on message (instance_id, chat_id, ((post ->> 'serverId')::bigint)) where post is not null`,
];

export class Posts extends Migration {
  override up(): void {
    for (const statement of postStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('alter table message drop column post');
  }
}

/** Finds a chat by the short id that `/chat/find` answers. */
export class ShortChatIds extends ConcurrentIndexes {
  protected override readonly indexes = ['chat_short_id on chat (instance_id, id)'];
}
