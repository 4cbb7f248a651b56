/** Alerts: their settings and state, and the troubles that each node reports. */
import { Migration } from '@mikro-orm/migrations';

export class Alerts extends Migration {
  override up(): void {
    this.addSql(`create table alert (
      id text primary key,
      settings jsonb not null,
      secrets bytea not null,
      state text null,
      version int not null default 0
    )`);
    this.addSql(`create table node_trouble (
      node text primary key,
      at bigint not null,
      started_at bigint not null,
      troubles jsonb not null
    )`);
  }

  override down(): void {
    this.addSql('drop table node_trouble');
    this.addSql('drop table alert');
  }
}
