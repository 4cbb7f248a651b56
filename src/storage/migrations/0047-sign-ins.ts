/** Sign-ins to the dashboard that count on every node, and how often leases changed their owner lately. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  'create table sign_in (key text primary key, admin text not null, until bigint not null)',
  'create index sign_in_until on sign_in (until)',
  'create index lease_since on lease (since)',
];

export class SignIns extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index lease_since');
    this.addSql('drop table sign_in');
  }
}
