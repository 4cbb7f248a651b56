/** The last steps of each session through its charts, for the dashboard after a restart. */
import { Migration } from '@mikro-orm/migrations';

export class StepLog extends Migration {
  override up(): void {
    this.addSql('create table step_log (instance_id text not null, steps jsonb not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table step_log');
  }
}
