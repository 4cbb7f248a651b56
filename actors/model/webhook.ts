/** Webhooks and the options of their deliveries. */
import type { ChatwootInbox } from './chatwoot.ts';
import type { InstanceId } from './instance.ts';

/** The event types, in the order of the OpenAPI document. */
export const eventTypes = [
  'connection',
  'history',
  'messages',
  'messages_update',
  'newsletter_messages',
  'call',
  'contacts',
  'presence',
  'groups',
  'labels',
  'chats',
  'chat_labels',
  'sender',
] as const;

export type EventType = (typeof eventTypes)[number];

/**
 * The names that a webhook may list: a type, all types, or `status_posts`. Clients of newer servers send `status_posts`, and no such event is made
 * (docs/events.md).
 */
export const eventNames: readonly string[] = ['all', 'All', ...eventTypes, 'status_posts'];

const webhooksOnly: readonly EventType[] = ['newsletter_messages', 'sender'];

/** The eleven event types that streams show. */
export const streamTypes: readonly EventType[] = eventTypes.filter((type) => !webhooksOnly.includes(type));

/** The filters of `excludeMessages` (`POST /webhook`). */
export const messageFilters = ['wasSentByApi', 'wasNotSentByApi', 'fromMeYes', 'fromMeNo', 'isGroupYes', 'isGroupNo'] as const;

export type MessageFilter = (typeof messageFilters)[number];

/** The reason why nothing is posted to a webhook whose sealed part does not open. */
export const unreadableWebhook =
  'secret and headers of the webhook are damaged in the database, and nothing is posted: save the webhook with secret and headers, or delete it';

/** A webhook of an instance, or the global one (`instanceId` null) (specification 2.2). */
export interface Webhook {
  readonly id: string;
  readonly instanceId: InstanceId | null;
  readonly enabled: boolean;
  readonly url: string;
  /** The names as the client sent them. Unknown names never match. `All` and `all` match every type except `newsletter_messages`. */
  readonly events: readonly string[];
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** True for the webhook that a client manages without ids (`POST /webhook` without `action` and `id`). */
  readonly managed: boolean;
  /** The `whsec_…` secret that signs deliveries (Standard Webhooks); '' for none. Sealed at rest. */
  readonly secret: string;
  /** Headers of every delivery. The headers may hold credentials and are sealed at rest. */
  readonly headers: Readonly<Record<string, string>>;
  /** The inbox that shows the deliveries as messages. In that case `url` is the Chatwoot server. Absent for webhooks that post to a receiver. */
  readonly chatwoot?: ChatwootInbox;
  readonly created: number;
  /** `private`: the sealed secret, headers and inbox do not open, so that nothing is posted. Absent when they open. Never stored. */
  readonly unreadable?: string;
}
