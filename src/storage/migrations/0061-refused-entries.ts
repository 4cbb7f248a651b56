/** Entries that the database refused for their data. They are kept, sealed, until a person tries them again or discards them. */
import { Migration } from '@mikro-orm/migrations';

export class RefusedEntries extends Migration {
  override up(): void {
    this.addSql(`create table refused_entry (
      instance_id text not null,
      id text not null,
      kind text not null,
      error text not null,
      tries int not null,
      at bigint not null,
      sealed bytea not null,
      primary key (instance_id, id)
    )`);
  }

  override down(): void {
    this.addSql('drop table refused_entry');
  }
}
