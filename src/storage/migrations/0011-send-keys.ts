/** Keys under which clients repeat a send without sending twice. */
import { Migration } from '@mikro-orm/migrations';

export class SendKeys extends Migration {
  override up(): void {
    this.addSql(`create table send_key (
      instance_id text not null,
      hash text not null,
      request text not null,
      message_id text not null,
      at bigint not null,
      answer jsonb null,
      primary key (instance_id, hash)
    )`);
    this.addSql('create index send_key_at on send_key (at)');
  }

  override down(): void {
    this.addSql('drop table send_key');
  }
}
