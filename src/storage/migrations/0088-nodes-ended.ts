/** Adds the mark of a node whose lease has ended. Another node sets the mark, because the clock of the database may step. */
import { Migration } from '@mikro-orm/migrations';

export class NodesEnded extends Migration {
  override up(): void {
    this.addSql('alter table node add column ended boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table node drop column ended');
  }
}
