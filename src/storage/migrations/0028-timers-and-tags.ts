/** Two indexes of few chats: those of two people whose messages disappear, which a login reads, and those that carry tags of leads. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create index chat_by_timer on chat (instance_id, chat_id) include (ephemeral_expiration) where ephemeral_expiration > 0 and not is_group`,
  `create index chat_by_lead_tag on chat (instance_id, chat_id) where extra -> 'lead_tags' is not null`,
];

export class TimersAndTags extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_lead_tag');
    this.addSql('drop index chat_by_timer');
  }
}
