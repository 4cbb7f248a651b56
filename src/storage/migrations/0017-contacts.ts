/** The address book: people with and without a chat. It begins with what chats know. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table contact (
    instance_id text not null,
    contact_id text not null,
    lid text not null,
    name text not null,
    push_name text not null,
    primary key (instance_id, contact_id)
  )`,
  `create index contact_by_name on contact (instance_id, name, contact_id) where name <> ''`,
  `insert into contact (instance_id, contact_id, lid, name, push_name)
    select instance_id, chat_id, chat_lid, contact_name, push_name from chat
    where not is_group and (chat_id like '%@s.whatsapp.net' or chat_id like '%@lid') and (contact_name <> '' or push_name <> '')`,
];

export class Contacts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table contact');
  }
}
