/** Adds the browser and the system as which an instance presents itself; '' means the default. */
import { Migration } from '@mikro-orm/migrations';

export class DeviceNames extends Migration {
  override up(): void {
    this.addSql(`alter table instance add column browser text not null default '', add column system text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table instance drop column browser, drop column system');
  }
}
