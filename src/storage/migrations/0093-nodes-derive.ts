/** Which nodes read values that are sealed under keys of instances: the incarnation that said so. A node of an older release leaves the column as it is. */
import { Migration } from '@mikro-orm/migrations';

export class NodesDerive extends Migration {
  override up(): void {
    this.addSql('alter table node add column derives uuid null');
  }

  override down(): void {
    this.addSql('alter table node drop column derives');
  }
}
