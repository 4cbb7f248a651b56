/** Adds the mark of nodes that sign what they send over the bus. Nodes of the last release do not sign, and leave the column as it is. */
import { Migration } from '@mikro-orm/migrations';

export class SigningNodes extends Migration {
  override up(): void {
    this.addSql('alter table node add column signs boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table node drop column signs');
  }
}
