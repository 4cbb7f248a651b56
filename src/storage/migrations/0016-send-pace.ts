/** The pace at which the asynchronous queue of an instance sends. */
import { Migration } from '@mikro-orm/migrations';

const columns = ['msg_delay_min', 'msg_delay_max'] as const;

export class SendPace extends Migration {
  override up(): void {
    for (const column of columns) this.addSql(`alter table instance add column ${column} int not null default 0`);
  }

  override down(): void {
    for (const column of columns) this.addSql(`alter table instance drop column ${column}`);
  }
}
