/** Whether the lease of a node has ended: another node says so, because the clock of the database may step. */
import { Migration } from '@mikro-orm/migrations';

export class NodesEnded extends Migration {
  override up(): void {
    this.addSql('alter table node add column ended boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table node drop column ended');
  }
}
