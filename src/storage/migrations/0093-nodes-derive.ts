/** Adds the mark of nodes that read values sealed under keys of instances (their incarnation). A node of an older release leaves the column as it is. */
import { Migration } from '@mikro-orm/migrations';

export class NodesDerive extends Migration {
  override up(): void {
    this.addSql('alter table node add column derives uuid null');
  }

  override down(): void {
    this.addSql('alter table node drop column derives');
  }
}
