/** Adds the number of leases of a node that differ from its sessions, for the dashboard. */
import { Migration } from '@mikro-orm/migrations';

export class NodesAstray extends Migration {
  override up(): void {
    this.addSql('alter table node add column astray int not null default 0');
  }

  override down(): void {
    this.addSql('alter table node drop column astray');
  }
}
