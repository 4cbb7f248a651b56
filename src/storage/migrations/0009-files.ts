/** Files that instances keep: one row for an instance and its bytes. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table file (
    name text not null primary key,
    instance_id text not null,
    hash text not null,
    size bigint not null,
    mimetype text not null,
    filename text not null,
    message_id text not null,
    made_of text not null,
    created bigint not null,
    used bigint not null
  )`,
  `alter table file add constraint file_instance_id_foreign
    foreign key (instance_id) references instance (id) on update no action on delete cascade`,
  `alter table file add constraint file_of_instance unique (instance_id, hash)`,
  `create index file_message on file (instance_id, message_id) where message_id <> ''`,
  `create index file_made_of on file (instance_id, made_of) where made_of <> ''`,
  `create index file_hash on file (hash)`,
  `create index file_used on file (used, name)`,
];

export class Files extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table file');
  }
}
