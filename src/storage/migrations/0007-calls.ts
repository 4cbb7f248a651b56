/** Calls are messages too, which know whom they were with. */
import { Migration } from '@mikro-orm/migrations';

export class Calls extends Migration {
  override up(): void {
    this.addSql('alter table message add column peer jsonb null');
  }

  override down(): void {
    this.addSql('alter table message drop column peer');
  }
}
