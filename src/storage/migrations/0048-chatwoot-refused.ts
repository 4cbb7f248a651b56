/** Parts of agents' messages that will not be sent, and why. Stored before the parts after them are tried. */
import { Migration } from '@mikro-orm/migrations';

export class ChatwootRefused extends Migration {
  override up(): void {
    this.addSql(`alter table chatwoot_reply add column refused jsonb not null default '[]'`);
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column refused');
  }
}
