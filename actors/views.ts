/**
 * The gateway's interface for HTTP, by resource. Methods return results and snapshots. `gateway.ts` implements and re-exports this interface.
 *
 * Expected failures are `Result`s. A method rejects only with unexpected errors (`StorageFailure` and `EpochLost` become 503, the rest 500).
 */
import type { BusinessMethods, ChannelMethods, ContactMethods, GroupMethods, PeopleMethods } from './views/people.ts';
import type { CampaignMethods, FileMethods, HistoryMethods, MessageMethods } from './views/messages.ts';
import type { AlertMethods, AuditMethods, FigureMethods, UserMethods } from './views/operators.ts';
import type { ChatMethods, DefinitionMethods, LeadMethods } from './views/chats.ts';
import type { ChatwootMethods, WebhookMethods } from './views/webhooks.ts';
import type { ChatbotMethods, InstanceMethods, PasskeyMethods, ProxyMethods } from './views/instances.ts';
import type { InspectorMethods } from './views/inspector.ts';
import type { MovingMethods } from './views/moving.ts';
import type { RefusedMethods, ServerMethods } from './views/server.ts';

export type * from './views/people.ts';
export type * from './views/messages.ts';
export type * from './views/chats.ts';
export type * from './views/webhooks.ts';
export type * from './views/instances.ts';
export type * from './views/inspector.ts';
export type * from './views/moving.ts';
export type * from './views/operators.ts';
export type * from './views/server.ts';

export interface Gateway
  extends
    BusinessMethods,
    DefinitionMethods,
    InstanceMethods,
    InspectorMethods,
    LeadMethods,
    MessageMethods,
    MovingMethods,
    PasskeyMethods,
    PeopleMethods,
    GroupMethods,
    HistoryMethods,
    FileMethods,
    ProxyMethods,
    WebhookMethods,
    ServerMethods,
    RefusedMethods,
    ChannelMethods,
    CampaignMethods,
    ChatMethods,
    ChatwootMethods,
    ChatbotMethods,
    ContactMethods,
    UserMethods,
    AuditMethods,
    FigureMethods,
    AlertMethods {}
