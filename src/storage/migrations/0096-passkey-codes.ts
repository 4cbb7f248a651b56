/** One-time codes by which the browser of an account's owner answers the platform's request for a passkey. */
import { Migration } from '@mikro-orm/migrations';

export class PasskeyCodes extends Migration {
  override up(): void {
    this.addSql(`create table passkey_code (
      instance_id text primary key constraint passkey_code_instance_id_foreign references instance (id) on update no action on delete cascade,
      hash text not null constraint passkey_code_hash_unique unique,
      used boolean not null,
      until bigint not null
    )`);
  }

  override down(): void {
    this.addSql('drop table passkey_code');
  }
}
