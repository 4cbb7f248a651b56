/**
 * The gateway's interface for HTTP, by resource. Callers pass commands, and get results and snapshots. `gateway.ts` implements and re-exports this
 * interface.
 *
 * Expected failures are `Result`s. A method rejects only with unexpected errors (`StorageFailure` and `EpochLost` become 503, the rest 500).
 */
import type { BusinessFace, ChannelFace, ContactFace, GroupFace, PeopleFace } from './views/people.ts';
import type { CampaignFace, FileFace, HistoryFace, MessageFace } from './views/messages.ts';
import type { AlertFace, AuditFace, FigureFace, UserFace } from './views/operators.ts';
import type { ChatFace, DefinitionFace, LeadFace } from './views/chats.ts';
import type { ChatwootFace, WebhookFace } from './views/webhooks.ts';
import type { ChatbotFace, InstanceFace, PasskeyFace, ProxyFace } from './views/instances.ts';
import type { InspectorFace } from './views/inspector.ts';
import type { MovingFace } from './views/moving.ts';
import type { RefusedFace, ServerFace } from './views/server.ts';

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
    BusinessFace,
    DefinitionFace,
    InstanceFace,
    InspectorFace,
    LeadFace,
    MessageFace,
    MovingFace,
    PasskeyFace,
    PeopleFace,
    GroupFace,
    HistoryFace,
    FileFace,
    ProxyFace,
    WebhookFace,
    ServerFace,
    RefusedFace,
    ChannelFace,
    CampaignFace,
    ChatFace,
    ChatwootFace,
    ChatbotFace,
    ContactFace,
    UserFace,
    AuditFace,
    FigureFace,
    AlertFace {}
