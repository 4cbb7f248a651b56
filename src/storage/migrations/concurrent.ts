/**
 * Indexes on tables that may be large. They are built while others write, so outside of a transaction, and an interrupted one is made anew by the next
 * start. Nobody waits for such a build, so that it may wait for others as long as it takes.
 */
import { Migration } from '@mikro-orm/migrations';

export abstract class ConcurrentIndexes extends Migration {
  /** Such as `outbox_held on outbox (webhook_id)`. */
  protected abstract readonly indexes: readonly string[];

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    for (const index of this.indexes) this.addSql(`create index concurrently if not exists ${index}`);
    this.addSql('reset lock_timeout');
  }

  override down(): void {
    for (const index of this.indexes) this.addSql(`drop index concurrently if exists ${index.split(' ', 1)[0]}`);
  }
}
