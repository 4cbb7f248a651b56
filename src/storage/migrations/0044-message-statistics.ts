/**
 * How many messages one instance has is not guessed from how many instances there are: most have few, and one may have nearly all. Statements that ask
 * for messages by their ids are planned for the large ones.
 */
import { Migration } from '@mikro-orm/migrations';

export class MessageStatistics extends Migration {
  override up(): void {
    this.addSql('alter table message alter column instance_id set (n_distinct = 1)');
    this.addSql('analyze message (instance_id)');
  }

  override down(): void {
    this.addSql('alter table message alter column instance_id reset (n_distinct)');
  }
}
