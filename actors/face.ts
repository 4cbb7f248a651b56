/**
 * The gateway's interface for HTTP, by resource. Commands go in; results and snapshots come out. `gateway.ts` implements and re-exports this
 * interface.
 *
 *  Expected failures are `Result`s. A method rejects only with unexpected errors (`StorageFailure` and `EpochLost` become 503, the rest 500).
 */
import type { BusinessFace } from './face/business.ts';
import type { ChannelFace } from './face/channels.ts';
import type { CampaignFace } from './face/campaigns.ts';
import type { ChatFace } from './face/chats.ts';
import type { ChatwootFace } from './face/chatwoot.ts';
import type { ChatbotFace } from './face/chatbot.ts';
import type { ContactFace } from './face/contacts.ts';
import type { DefinitionFace } from './face/definitions.ts';
import type { FileFace } from './face/files.ts';
import type { GroupFace } from './face/groups.ts';
import type { HistoryFace } from './face/histories.ts';
import type { InstanceFace } from './face/instances.ts';
import type { LeadFace } from './face/leads.ts';
import type { InspectorFace } from './face/inspector.ts';
import type { MessageFace } from './face/messages.ts';
import type { MovingFace } from './face/moving.ts';
import type { PasskeyFace } from './face/passkeys.ts';
import type { PeopleFace } from './face/people.ts';
import type { ProxyFace } from './face/proxies.ts';
import type { RefusedFace } from './face/refused.ts';
import type { ServerFace } from './face/server.ts';
import type { WebhookFace } from './face/webhooks.ts';

export type * from './face/business.ts';
export type * from './face/channels.ts';
export type * from './face/campaigns.ts';
export type * from './face/chats.ts';
export type * from './face/chatwoot.ts';
export type * from './face/chatbot.ts';
export type * from './face/contacts.ts';
export type * from './face/definitions.ts';
export type * from './face/files.ts';
export type * from './face/groups.ts';
export type * from './face/histories.ts';
export type * from './face/instances.ts';
export type * from './face/leads.ts';
export type * from './face/inspector.ts';
export type * from './face/messages.ts';
export type * from './face/moving.ts';
export type * from './face/passkeys.ts';
export type * from './face/people.ts';
export type * from './face/proxies.ts';
export type * from './face/refused.ts';
export type * from './face/server.ts';
export type * from './face/webhooks.ts';

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
    ContactFace {}
