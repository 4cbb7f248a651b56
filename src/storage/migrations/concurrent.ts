/**
 * Indexes on tables that may be large. They are built concurrently with writes, which PostgreSQL does only outside of a transaction. The next start rebuilds
 * an interrupted index. The build has no lock time-out, because no other statement waits for it.
 */
import { Migration } from '@mikro-orm/migrations';

export abstract class ConcurrentIndexes extends Migration {
  /** The definitions of the indexes, such as `outbox_held on outbox (webhook_id)`. */
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
