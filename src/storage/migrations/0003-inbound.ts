/** Stanzas that were received and whose messages may not be stored yet. */
import { Migration } from '@mikro-orm/migrations';

/** Rows live for milliseconds: the table is emptied as fast as it is filled, so its pages are swept early. */
export class Inbound extends Migration {
  override up(): void {
    this.addSql(`create table inbound (
      instance_id text not null,
      seq bigint not null,
      tries int not null,
      at bigint not null,
      sealed bytea not null,
      primary key (instance_id, seq),
      constraint inbound_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`);
  }

  override down(): void {
    this.addSql('drop table inbound');
  }
}
