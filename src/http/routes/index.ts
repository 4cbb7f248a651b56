/** Every route of the interface. */
import type { AdminSessions } from '../admin-sessions.ts';
import type { HttpOptions } from '../options.ts';
import type { Route } from '../route.ts';
import type { Hub } from '../stream/hub.ts';
import { accountRoutes } from './account.ts';
import { adminRoutes } from './admin.ts';
import { businessRoutes } from './business.ts';
import { callRoutes } from './call.ts';
import { chatbotRoutes } from './chatbot.ts';
import { channelAdminRoutes } from './channel-admins.ts';
import { channelRoutes } from './channel.ts';
import { chatSettingRoutes } from './chat-settings.ts';
import { chatRoutes } from './chat.ts';
import { chatwootRoutes } from './chatwoot.ts';
import { communityRoutes } from './community.ts';
import { contactRoutes } from './contact.ts';
import { definitionRoutes } from './definition.ts';
import { deliveryRoutes } from './delivery.ts';
import { fileRoutes } from './file.ts';
import { groupRoutes } from './group.ts';
import { groupSettingRoutes } from './group-settings.ts';
import { healthRoutes } from './health.ts';
import { historyRoutes } from './history.ts';
import { inspectorRoutes } from './inspector.ts';
import { instanceRoutes } from './instance.ts';
import { leadRoutes } from './lead.ts';
import { downloadRoutes } from './message-download.ts';
import { metricsRoutes } from './metrics.ts';
import { movingRoutes } from './moving.ts';
import { messageRoutes } from './message.ts';
import { paymentRoutes } from './payment.ts';
import { newsletterPostRoutes } from './newsletter-posts.ts';
import { passkeyLinkRoutes } from './passkey-link.ts';
import { passkeyRoutes } from './passkey.ts';
import { peopleRoutes } from './people.ts';
import { proxyRoutes } from './proxy.ts';
import { refusedRoutes } from './refused.ts';
import { chatSendRoutes, sendRoutes } from './send/index.ts';
import { senderRoutes } from './sender/index.ts';
import { sessionRoutes } from './session.ts';
import { streamRoutes } from './stream.ts';
import { webhookRoutes } from './webhook.ts';

export const allRoutes = (options: HttpOptions, hub: Hub, sessions: AdminSessions): readonly Route[] => [
  ...adminRoutes(options, sessions),
  ...movingRoutes,
  ...sessionRoutes(options, sessions),
  ...instanceRoutes,
  ...passkeyRoutes(options),
  ...passkeyLinkRoutes,
  ...accountRoutes,
  ...proxyRoutes,
  ...refusedRoutes,
  ...sendRoutes(options),
  ...senderRoutes(chatSendRoutes(options), options),
  ...messageRoutes,
  ...paymentRoutes,
  ...historyRoutes,
  ...downloadRoutes(options.base64Bytes),
  ...fileRoutes,
  ...chatRoutes,
  ...chatSettingRoutes,
  ...contactRoutes,
  ...groupRoutes,
  ...groupSettingRoutes,
  ...communityRoutes,
  ...businessRoutes,
  ...newsletterPostRoutes,
  ...channelRoutes,
  ...channelAdminRoutes,
  ...leadRoutes,
  ...peopleRoutes,
  ...definitionRoutes,
  ...chatbotRoutes,
  ...callRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...chatwootRoutes,
  ...streamRoutes(hub),
  ...inspectorRoutes(hub.inspector),
  ...metricsRoutes(options),
  ...healthRoutes(options),
];
