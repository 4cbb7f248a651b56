/**
 * All migrations, in the order in which they run. The name of a released migration never changes, because each database stores the names of its
 * migrations.
 *
 * Nodes of the last release continue to work on the tables of the new release. So a migration only adds tables, and columns that may be null or have
 * a default. Unused tables and columns are dropped one release later, by a migration that names them in `contracts`. `test/storage/upgrade.test.ts`
 * checks this.
 */
import type { Migration } from '@mikro-orm/migrations';
import { Tables } from './0001-tables.ts';
import { CompressedBodies, Deliveries, HeldLanes, Tallies, Tries } from './deliveries.ts';
import {
  DeviceNames,
  Inbound,
  LeavingAccounts,
  LeavingKeys,
  NoInstanceKeys,
  NoKeyChecks,
  PasskeyCodes,
  Proxies,
  RefusedEntries,
  Removals,
  StepLog,
} from './instances.ts';
import {
  Calls,
  MessageChanges,
  MessageStatistics,
  QueuedSends,
  ReceiptCounts,
  Receipts,
  SendKeys,
  Stars,
  StatusAudiences,
} from './messages.ts';
import {
  BusinessNames,
  ChatLids,
  CommunityMembers,
  Contacts,
  Definitions,
  Files,
  Groups,
  NumberLookups,
  Pictures,
  Posts,
  ShortChatIds,
  TimersAndTags,
} from './people.ts';
import {
  AgentKeyServices,
  Campaigns,
  Chatbot,
  Chatwoot,
  ChatwootRefused,
  ChatwootReplies,
  ChatwootTries,
  PausedCampaigns,
  SendPace,
} from './automation.ts';
import {
  Alerts,
  Figures,
  Nodes,
  NodesAstray,
  NodesBus,
  NodesDerive,
  NodesEnded,
  People,
  SigningNodes,
  SignIns,
  Versions,
} from './server.ts';

export interface ListedMigration {
  readonly name: string;
  readonly class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
  /** Tables, columns (`table.column`) and constraints that the migration drops or makes stricter. The last release must not use them any more. */
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
  { name: '0070-chatwoot-tries', class: ChatwootTries },
  { name: '0071-agent-key-services', class: AgentKeyServices },
  { name: '0080-held-lanes', class: HeldLanes },
  { name: '0053-device-names', class: DeviceNames },
  { name: '0061-refused-entries', class: RefusedEntries },
  { name: '0062-leaving-keys', class: LeavingKeys },
  { name: '0075-nodes-astray', class: NodesAstray },
  { name: '0072-signing-nodes', class: SigningNodes },
  { name: '0087-step-log', class: StepLog },
  { name: '0081-short-chat-ids', class: ShortChatIds },
  { name: '0096-passkey-codes', class: PasskeyCodes },
  { name: '0093-nodes-derive', class: NodesDerive },
  { name: '0088-nodes-ended', class: NodesEnded },
  { name: '0088-stars', class: Stars },
  { name: '0097-receipt-counts', class: ReceiptCounts },
  { name: '0098-paused-campaigns', class: PausedCampaigns },
  { name: '0099-leaving-accounts', class: LeavingAccounts },
  { name: '0100-nodes-bus', class: NodesBus },
  { name: '0101-people', class: People },
  { name: '0102-figures', class: Figures },
  { name: '0103-alerts', class: Alerts },
  { name: '0104-no-key-checks', class: NoKeyChecks },
  { name: '0105-tries', class: Tries },
  { name: '0106-compressed-bodies', class: CompressedBodies },
];
