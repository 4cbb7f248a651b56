/** Every route of the interface. */
import type { AdminSessions } from '../dashboard.ts';
import type { HttpOptions } from '../options.ts';
import type { Route } from '../route.ts';
import type { Hub } from '../stream/hub.ts';
import { accountRoutes, callRoutes } from './account.ts';
import { adminRoutes, movingRoutes, refusedRoutes } from './admin.ts';
import { alertRoutes, factRoutes, figureRoutes } from './server.ts';
import { auditRoutes, userRoutes } from './users.ts';
import { businessRoutes } from './business.ts';
import { chatbotRoutes, chatwootRoutes } from './chatbot.ts';
import { channelAdminRoutes, channelRoutes } from './channel.ts';
import { chatSettingRoutes } from './chat-settings.ts';
import { chatRoutes, leadRoutes } from './chat.ts';
import { communityRoutes, groupSettingRoutes } from './group-settings.ts';
import { contactRoutes, peopleRoutes } from './people.ts';
import { definitionRoutes } from './definition.ts';
import { deliveryRoutes, webhookRoutes } from './webhook.ts';
import { downloadRoutes, fileRoutes, historyRoutes, paymentRoutes } from './message-download.ts';
import { groupRoutes } from './group.ts';
import { healthRoutes, metricsRoutes, streamRoutes } from './health.ts';
import { inspectorRoutes } from './inspector.ts';
import { instanceRoutes } from './instance.ts';
import { messageRoutes } from './message.ts';
import { newsletterPostRoutes } from './newsletter-posts.ts';
import { passkeyLinkRoutes, passkeyRoutes } from './passkey.ts';
import { proxyRoutes } from './proxy.ts';
import { chatSendRoutes, sendRoutes } from './send/index.ts';
import { senderRoutes } from './sender/index.ts';
import { sessionRoutes } from './session.ts';

export const allRoutes = (options: HttpOptions, hub: Hub, sessions: AdminSessions): readonly Route[] => [
  ...adminRoutes(options, sessions),
  ...movingRoutes,
  ...sessionRoutes(options, sessions),
  ...userRoutes(sessions),
  ...auditRoutes,
  ...figureRoutes,
  ...alertRoutes,
  ...instanceRoutes,
  ...passkeyRoutes(options),
  ...passkeyLinkRoutes,
  ...accountRoutes,
  ...proxyRoutes,
  ...factRoutes(options),
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
