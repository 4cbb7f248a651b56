/** Messages know until when they are pinned, and those that were deleted say nothing any more. */
import { Migration } from '@mikro-orm/migrations';

export class MessageChanges extends Migration {
  override up(): void {
    this.addSql(`alter table message add column pinned_until bigint not null default 0`);
    this.addSql(`alter table message alter column pinned_until drop default`);
    this.addSql(
      `update message set status = 'Deleted', text = '', convert_options = '', error = '', content = null, raw = null where deleted_at <> 0`,
    );
  }

  override down(): void {
    this.addSql('alter table message drop column pinned_until');
  }
}
