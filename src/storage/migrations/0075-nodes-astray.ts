/** How many leases of a node are not what the node holds, for people who look. */
import { Migration } from '@mikro-orm/migrations';

export class NodesAstray extends Migration {
  override up(): void {
    this.addSql('alter table node add column astray int not null default 0');
  }

  override down(): void {
    this.addSql('alter table node drop column astray');
  }
}
