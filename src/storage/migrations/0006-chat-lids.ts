/** Chats are found by their LID too. */
import { Migration } from '@mikro-orm/migrations';

export class ChatLids extends Migration {
  override up(): void {
    this.addSql(`create index chat_by_lid on chat (instance_id, chat_lid) where chat_lid <> ''`);
  }

  override down(): void {
    this.addSql('drop index chat_by_lid');
  }
}
