/** Adds the mark of nodes that reach the bus, for the dashboard. */
import { Migration } from '@mikro-orm/migrations';

export class NodesBus extends Migration {
  override up(): void {
    this.addSql('alter table node add column bus boolean null');
  }

  override down(): void {
    this.addSql('alter table node drop column bus');
  }
}
