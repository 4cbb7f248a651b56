/** The baseline makes all tables of an empty database. This file also recognises the databases that need no baseline. */
import { upgrade } from './from-first-release.ts';
import { step } from './step.ts';
import { automationTables } from './tables/automation.ts';
import { deliveryTables } from './tables/deliveries.ts';
import { instanceTables, sessionTables } from './tables/instances.ts';
import { messageTables, receiptCountTables } from './tables/messages.ts';
import { peopleTables } from './tables/people.ts';
import { nodeTables, operatorTables } from './tables/server.ts';

/** The names of the migrations of the first release (commit 3a66d80). */
const firstRelease: readonly string[] = [
  '0001-tables 0002-deliveries 0003-inbound 0004-removals 0005-queued-sends 0006-chat-lids 0007-calls 0008-tallies 0009-files 0010-no-instance-keys',
  '0011-send-keys 0012-message-changes 0013-number-lookups 0014-receipts 0015-status-audiences 0016-send-pace 0017-contacts 0019-definitions',
  '0021-business-names 0022-pictures 0023-groups 0025-proxies 0028-timers-and-tags 0032-posts 0034-communities 0036-chatwoot 0037-chatwoot-replies',
  '0038-campaigns 0040-chatbot 0042-nodes 0043-versions 0044-message-statistics 0047-sign-ins 0048-chatwoot-refused',
].flatMap((line) => line.split(' '));

/** The last version before the baseline, and its last migration. Its databases have the tables of the baseline, but other names of migrations. */
const before = { commit: '1ba957f2', last: '0106-compressed-bodies' };

const name = '0001-tables';

/** Returns SQL that marks migrations as done. */
const noted = (names: readonly string[]): string =>
  `insert into mikro_orm_migrations (name) values ${names.map((one) => `('${one}')`).join(', ')}`;

export const noteUpgrade = noted(upgrade.map((one) => one.name));

/**
 * Makes all tables. The baseline has the name of the first release's first migration, so a database of that release skips the baseline. It marks the other
 * migrations of that release and those of the upgrade as done. A node of that release then starts on the tables, and the upgrade does not run.
 */
export const baseline = step(name, [
  ...instanceTables,
  ...sessionTables,
  ...receiptCountTables,
  ...messageTables,
  ...deliveryTables,
  ...peopleTables,
  ...automationTables,
  ...nodeTables,
  ...operatorTables,
  noted(firstRelease.filter((one) => one !== name)),
  noteUpgrade,
]);

/**
 * Returns true if the last version before the baseline made the tables. Only the names of the upgrade are then missing. Throws if an earlier version, but not
 * the first release, made the tables.
 */
export const lacksNames = (executed: ReadonlySet<string>): boolean => {
  if (executed.size === 0 || upgrade.some((one) => executed.has(one.name))) return false;
  if (executed.has(before.last)) return true;
  if (executed.size === firstRelease.length && firstRelease.every((one) => executed.has(one))) return false;
  throw new Error(
    `a version between two releases made the database: start commit ${before.commit} of Dormouse on it once, and then this version`,
  );
};
