/** Posts of channels know their number, views and reactions, and are found by their number. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  'alter table message add column post jsonb null',
  `create index message_by_post on message (instance_id, chat_id, ((post ->> 'serverId')::bigint)) where post is not null`,
];

export class Posts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('alter table message drop column post');
  }
}
