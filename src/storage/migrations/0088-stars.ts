/** Messages that the account starred. */
import { Migration } from '@mikro-orm/migrations';

export class Stars extends Migration {
  override up(): void {
    this.addSql('alter table message add column starred boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table message drop column starred');
  }
}
