/** The account of an instance leaves: what it had is being removed, and nothing of it is used any more. */
import { Migration } from '@mikro-orm/migrations';

export class LeavingAccounts extends Migration {
  override up(): void {
    this.addSql('alter table instance add column account_leaves boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table instance drop column account_leaves');
  }
}
