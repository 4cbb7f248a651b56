/** Adds the verified business name of a number that was looked up. */
import { Migration } from '@mikro-orm/migrations';

export class BusinessNames extends Migration {
  override up(): void {
    this.addSql(`alter table number_lookup add column business_name text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table number_lookup drop column business_name');
  }
}
