/** Numbers that the platform was asked about before the first message. */
import { Migration } from '@mikro-orm/migrations';

export class NumberLookups extends Migration {
  override up(): void {
    this.addSql(`create table number_lookup (
      instance_id text not null,
      form text not null,
      chat_id text not null,
      at bigint not null,
      primary key (instance_id, form)
    )`);
    this.addSql('create index number_lookup_at on number_lookup (at)');
  }

  override down(): void {
    this.addSql('drop table number_lookup');
  }
}
