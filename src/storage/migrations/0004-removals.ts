/** Instances and webhooks that were removed and whose rows go in pieces. */
import { Migration } from '@mikro-orm/migrations';

export class Removals extends Migration {
  override up(): void {
    for (const table of ['instance', 'webhook']) {
      this.addSql(`alter table ${table} add column removed boolean not null default false`);
      this.addSql(`create index ${table}_removed on ${table} (id) where removed`);
    }
  }

  override down(): void {
    for (const table of ['instance', 'webhook']) this.addSql(`alter table ${table} drop column removed`);
  }
}
