/** Adds the receipts of group members for own messages, and the index of messages by kind. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table receipt (
    instance_id text not null,
    message_id text not null,
    member text not null,
    member_pn text not null,
    delivered_at bigint not null,
    read_at bigint not null,
    played_at bigint not null,
    primary key (instance_id, message_id, member)
  ) with (fillfactor = 80)`,
  // Once a statement, not once a row: whatever removes messages takes their receipts with it.
  `create function forget_receipts() returns trigger language plpgsql as $$
    begin
      delete from receipt using gone
        where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
      return null;
    end $$`,
  `create trigger message_receipts after delete on message referencing old table as gone
    for each statement execute function forget_receipts()`,
  `create index message_by_kind on message (instance_id, message_type, timestamp, seq)
    where message_type not in ('Conversation', 'ExtendedTextMessage')`,
];

export class Receipts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index message_by_kind');
    this.addSql('drop trigger message_receipts on message');
    this.addSql('drop function forget_receipts');
    this.addSql('drop table receipt');
  }
}
