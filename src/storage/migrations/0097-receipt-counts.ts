/** Receipts that became counts, one row a message, and how far each instance was looked through for them. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table receipt_count (
    instance_id text not null,
    message_id text not null,
    delivered int not null,
    read int not null,
    played int not null,
    primary key (instance_id, message_id)
  )`,
  `create table receipt_mark (instance_id text not null, at bigint not null, seq bigint not null, primary key (instance_id))`,
  `create or replace function forget_receipts() returns trigger language plpgsql as $$
    begin
      delete from receipt using gone
        where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
      delete from receipt_count using gone
        where gone.is_group and gone.from_me and receipt_count.instance_id = gone.instance_id and receipt_count.message_id = gone.message_id;
      return null;
    end $$`,
];

export class ReceiptCounts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql(`create or replace function forget_receipts() returns trigger language plpgsql as $$
      begin
        delete from receipt using gone
          where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
        return null;
      end $$`);
    this.addSql('drop table receipt_mark');
    this.addSql('drop table receipt_count');
  }
}
