/** Rows of messages and chats are no longer checked against their instance one by one: every write of them checks who owns the instance. */
import { Migration } from '@mikro-orm/migrations';

const tables = ['message', 'chat'] as const;

export class NoInstanceKeys extends Migration {
  override up(): void {
    for (const table of tables) this.addSql(`alter table ${table} drop constraint ${table}_instance_id_foreign`);
  }

  override down(): void {
    for (const table of tables) {
      this.addSql(`delete from ${table} where instance_id not in (select id from instance)`);
      this.addSql(
        `alter table ${table} add constraint ${table}_instance_id_foreign foreign key (instance_id) references instance (id) on update no action on delete cascade`,
      );
    }
  }
}
