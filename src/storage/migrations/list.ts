/**
 * All migrations, in the order in which they run. The name of a released migration never changes, because each database stores the names of its migrations. A
 * new migration comes at the end. An empty database gets the tables of the baseline, and runs only the migrations that come after those of `upgrade`.
 *
 * Nodes of the last release continue to work on the tables of the new release. A migration therefore only adds tables, and columns that may be null or have a
 * default. Unused tables and columns are dropped one release later, by a migration that names them in `contracts`. `test/storage/upgrade.test.ts` checks this.
 */
import { baseline } from './baseline.ts';
import { ConcurrentIndexes } from './concurrent.ts';
import { upgrade } from './from-first-release.ts';
import type { ListedMigration } from './step.ts';

class BlockedChats extends ConcurrentIndexes {
  protected override readonly indexes = ['chat_blocked on chat (instance_id, chat_id) where blocked'];
}

export const migrations: readonly ListedMigration[] = [baseline, ...upgrade, { name: '0059-blocked-chats', class: BlockedChats }];
