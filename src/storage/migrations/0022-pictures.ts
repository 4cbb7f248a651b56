/** Adds the platform's answers about pictures of people and groups. */
import { Migration } from '@mikro-orm/migrations';

export class Pictures extends Migration {
  override up(): void {
    this.addSql(`create table picture (
      instance_id text not null,
      id text not null,
      kind text not null,
      state text not null,
      url text not null,
      at bigint not null,
      primary key (instance_id, id, kind)
    )`);
    this.addSql('create index picture_at on picture (at)');
  }

  override down(): void {
    this.addSql('drop table picture');
  }
}
