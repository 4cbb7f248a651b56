/**
 * Fixes the planner's estimate of messages per instance. Most instances have few messages, and one may have nearly all. The planner must choose plans
 * that are good for a large instance.
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
