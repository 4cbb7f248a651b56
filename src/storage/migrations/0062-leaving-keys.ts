/** Instances whose session ended and whose keys are being deleted, in pieces. */
import { Migration } from '@mikro-orm/migrations';

export class LeavingKeys extends Migration {
  override up(): void {
    this.addSql('create table leaving_keys (instance_id text not null, primary key (instance_id))');
  }

  override down(): void {
    this.addSql('drop table leaving_keys');
  }
}
