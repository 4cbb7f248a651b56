/** What a number that was looked up calls itself as a verified business. */
import { Migration } from '@mikro-orm/migrations';

export class BusinessNames extends Migration {
  override up(): void {
    this.addSql(`alter table number_lookup add column business_name text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table number_lookup drop column business_name');
  }
}
