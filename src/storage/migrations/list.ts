/**
 * All migrations, in the order in which they run. A name, once released, never changes: it tells what a database has had.
 *
 * Nodes of the last release go on working beside the first node of the new one, on its tables. So a migration only adds: new tables, and columns that
 * may be null or have a default. What nothing uses any more is taken away one release later, by a migration that names it in `contracts`.
 * `test/storage/upgrade.test.ts` keeps this.
 */
import type { Migration } from '@mikro-orm/migrations';
import { Tables } from './0001-tables.ts';
import { Deliveries } from './0002-deliveries.ts';
import { Inbound } from './0003-inbound.ts';
import { Removals } from './0004-removals.ts';
import { QueuedSends } from './0005-queued-sends.ts';
import { ChatLids } from './0006-chat-lids.ts';
import { Calls } from './0007-calls.ts';
import { Tallies } from './0008-tallies.ts';
import { Files } from './0009-files.ts';
import { NoInstanceKeys } from './0010-no-instance-keys.ts';
import { SendKeys } from './0011-send-keys.ts';
import { MessageChanges } from './0012-message-changes.ts';
import { NumberLookups } from './0013-number-lookups.ts';
import { Receipts } from './0014-receipts.ts';
import { StatusAudiences } from './0015-status-audiences.ts';
import { SendPace } from './0016-send-pace.ts';
import { Contacts } from './0017-contacts.ts';
import { Definitions } from './0019-definitions.ts';
import { BusinessNames } from './0021-business-names.ts';
import { Pictures } from './0022-pictures.ts';
import { Groups } from './0023-groups.ts';
import { Proxies } from './0025-proxies.ts';
import { TimersAndTags } from './0028-timers-and-tags.ts';
import { Posts } from './0032-posts.ts';
import { CommunityMembers } from './0034-communities.ts';
import { Nodes } from './0042-nodes.ts';
import { Versions } from './0043-versions.ts';
import { MessageStatistics } from './0044-message-statistics.ts';
import { SignIns } from './0047-sign-ins.ts';
import { ChatwootRefused } from './0048-chatwoot-refused.ts';
import { Chatwoot } from './0036-chatwoot.ts';
import { Chatbot } from './0040-chatbot.ts';
import { ChatwootReplies } from './0037-chatwoot-replies.ts';
import { Campaigns } from './0038-campaigns.ts';

export interface ListedMigration {
  readonly name: string;
  readonly class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
  /** Tables, columns (`table.column`) and constraints that it takes away or makes stricter: the last release uses none of them any more. */
  readonly contracts?: readonly string[];
}

export const migrations: readonly ListedMigration[] = [
  { name: '0001-tables', class: Tables },
  { name: '0002-deliveries', class: Deliveries },
  { name: '0003-inbound', class: Inbound },
  { name: '0004-removals', class: Removals },
  { name: '0005-queued-sends', class: QueuedSends },
  { name: '0006-chat-lids', class: ChatLids },
  { name: '0007-calls', class: Calls },
  { name: '0008-tallies', class: Tallies },
  { name: '0009-files', class: Files },
  { name: '0010-no-instance-keys', class: NoInstanceKeys },
  { name: '0011-send-keys', class: SendKeys },
  { name: '0012-message-changes', class: MessageChanges },
  { name: '0013-number-lookups', class: NumberLookups },
  { name: '0014-receipts', class: Receipts },
  { name: '0015-status-audiences', class: StatusAudiences },
  { name: '0016-send-pace', class: SendPace },
  { name: '0017-contacts', class: Contacts },
  { name: '0019-definitions', class: Definitions },
  { name: '0021-business-names', class: BusinessNames },
  { name: '0022-pictures', class: Pictures },
  { name: '0023-groups', class: Groups },
  { name: '0025-proxies', class: Proxies },
  { name: '0028-timers-and-tags', class: TimersAndTags },
  { name: '0032-posts', class: Posts },
  { name: '0034-communities', class: CommunityMembers },
  { name: '0042-nodes', class: Nodes },
  { name: '0043-versions', class: Versions },
  { name: '0036-chatwoot', class: Chatwoot },
  { name: '0040-chatbot', class: Chatbot },
  { name: '0037-chatwoot-replies', class: ChatwootReplies },
  { name: '0038-campaigns', class: Campaigns },
  { name: '0044-message-statistics', class: MessageStatistics },
  { name: '0047-sign-ins', class: SignIns },
  { name: '0048-chatwoot-refused', class: ChatwootRefused },
];
