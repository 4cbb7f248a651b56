/** The proxy of an instance, sealed: its address holds a password. */
import { Migration } from '@mikro-orm/migrations';

export class Proxies extends Migration {
  override up(): void {
    this.addSql('alter table instance add column proxy bytea null');
  }

  override down(): void {
    this.addSql('alter table instance drop column proxy');
  }
}
