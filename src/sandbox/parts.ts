/** The components of the platform. They are made once and passed to the handlers of client requests. */
import type { Logger } from 'pino';
import type { AppState } from './app-state/app-state.ts';
import type { Shops } from './business/shops.ts';
import type { CallLog, Counters } from './stats.ts';
import type { ClientVersions } from './client-versions.ts';
import type { Channels, LiveUpdates } from './channels/channels.ts';
import type { Faults } from './faults.ts';
import type { Groups } from './groups.ts';
import type { Connections } from './connections.ts';
import type { Media } from './media.ts';
import type { MediaRights } from './media-host.ts';
import type { Inbox } from './messages/inbox.ts';
import type { Outbox } from './messages/outbox.ts';
import type { Receipts } from './messages/receipts.ts';
import type { Pairing } from './pairing.ts';
import type { People } from './people.ts';
import type { Presence } from './presence.ts';
import type { PrivacyTokens } from './privacy-tokens.ts';
import type { Random } from './random.ts';
import type { Bundles } from './signal/bundles.ts';
import type { Phones } from './signal/phones.ts';
import type { Database } from './store/database.ts';
import type { KeyStore } from './store/keys.ts';
import type { MessageStore, PostStore } from './store/messages.ts';

export interface Parts {
  readonly db: Database;
  readonly keys: KeyStore;
  readonly messages: MessageStore;
  readonly people: People;
  readonly connections: Connections;
  readonly phones: Phones;
  readonly bundles: Bundles;
  readonly groups: Groups;
  readonly channels: Channels;
  readonly shops: Shops;
  readonly posts: PostStore;
  readonly liveUpdates: LiveUpdates;
  readonly receipts: Receipts;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly media: Media;
  readonly pairing: Pairing;
  readonly presence: Presence;
  readonly tokens: PrivacyTokens;
  readonly appState: AppState;
  readonly calls: CallLog;
  readonly faults: Faults;
  readonly versions: ClientVersions;
  readonly counters: Counters;
  readonly random: Random;
  readonly log: Logger;
  /** If true, phones decrypt their messages. If false, messages are only acknowledged, for benchmarks. */
  readonly decrypt: boolean;
  readonly rights: MediaRights;
}
