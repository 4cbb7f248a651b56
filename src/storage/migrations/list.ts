/** All migrations, in the order in which they run. A name, once released, never changes: it tells what a database has had. */
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

export const migrations = [
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
] as const;
