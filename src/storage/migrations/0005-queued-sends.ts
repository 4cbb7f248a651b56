/** What messages of the asynchronous queue still need; before, the queue was read out of what clients had sent. */
import { Migration } from '@mikro-orm/migrations';

export class QueuedSends extends Migration {
  override up(): void {
    this.addSql('alter table message add column queued_send jsonb null');
    // Those of an earlier version are composed, and nothing precedes them.
    this.addSql(`update message set queued_send = '{"send":null,"delay":0,"readChat":false,"readMessages":false}'
      where status = 'Queued' and send_payload->>'async' = 'true'`);
  }

  override down(): void {
    this.addSql('alter table message drop column queued_send');
  }
}
