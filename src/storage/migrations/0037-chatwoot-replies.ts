/** Adds the replies of agents in Chatwoot that are not sent yet. */
import { Migration } from '@mikro-orm/migrations';

export class ChatwootReplies extends Migration {
  override up(): void {
    this.addSql(`create table chatwoot_reply (
      instance_id text not null,
      id bigint not null,
      kind text not null,
      inbox text not null,
      seq bigserial,
      conversation_id bigint not null,
      news jsonb not null,
      at bigint not null,
      not_before bigint not null,
      attempts int not null,
      failure text not null,
      primary key (instance_id, id, kind)
    )`);
    this.addSql('create index chatwoot_reply_lane on chatwoot_reply (instance_id, conversation_id, seq)');
  }

  override down(): void {
    this.addSql('drop table chatwoot_reply');
  }
}
