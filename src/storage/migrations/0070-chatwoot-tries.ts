/** Tries of an agent's message that began and did not end, so that a message that kills the process is set aside. */
import { Migration } from '@mikro-orm/migrations';

export class ChatwootTries extends Migration {
  override up(): void {
    this.addSql('alter table chatwoot_reply add column begun int not null default 0');
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column begun');
  }
}
