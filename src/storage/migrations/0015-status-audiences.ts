/** Own status posts know who sees them. */
import { Migration } from '@mikro-orm/migrations';

export class StatusAudiences extends Migration {
  override up(): void {
    this.addSql('alter table message add column audience jsonb null');
  }

  override down(): void {
    this.addSql('alter table message drop column audience');
  }
}
