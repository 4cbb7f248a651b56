/** Adds the queue data of asynchronous sends to messages. Before, the queue was read from the sent payload of clients. */
import { Migration } from '@mikro-orm/migrations';

export class QueuedSends extends Migration {
  override up(): void {
    this.addSql('alter table message add column queued_send jsonb null');
    // Queued messages of an earlier version are composed, and nothing precedes them.
    this.addSql(`update message set queued_send = '{"send":null,"delay":0,"readChat":false,"readMessages":false}'
      where status = 'Queued' and send_payload->>'async' = 'true'`);
  }

  override down(): void {
    this.addSql('alter table message drop column queued_send');
  }
}
