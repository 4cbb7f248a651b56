/** Webhooks and what they can be configured to deliver (specification 2.2 and 6). */
import type { ChatwootInbox } from './chatwoot.ts';
import type { InstanceId } from './instance.ts';

/** Event types of specification 6.1, in its order. */
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
 * What a webhook may name: a type, all of them, or the posts of the status list, which clients of newer servers name and of which no events are made
 * (contract/README.md).
 */
export const eventNames: readonly string[] = ['all', 'All', ...eventTypes, 'status_posts'];

const webhooksOnly: readonly EventType[] = ['newsletter_messages', 'sender'];

/** The eleven types of specification 4.7, which streams show. */
export const streamTypes: readonly EventType[] = eventTypes.filter((type) => !webhooksOnly.includes(type));

/** Filters of specification 6.2 rule 3. */
export const messageFilters = ['wasSentByApi', 'wasNotSentByApi', 'fromMeYes', 'fromMeNo', 'isGroupYes', 'isGroupNo'] as const;

export type MessageFilter = (typeof messageFilters)[number];

/** A webhook of an instance, or the global one (`instanceId` null) (specification 2.2). */
export interface Webhook {
  readonly id: string;
  readonly instanceId: InstanceId | null;
  readonly enabled: boolean;
  readonly url: string;
  /** As sent; names outside the enumeration never match; `All` and `all` mean every event. */
  readonly events: readonly string[];
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** The one that simple mode manages (specification 4.1 rule 1). */
  readonly managed: boolean;
  /** `whsec_…`: deliveries are signed with it (Standard Webhooks); '' for none. Sealed at rest. */
  readonly secret: string;
  /** Sent with every delivery; they may hold credentials and are sealed at rest. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its deliveries become messages in this inbox, and `url` is that of the Chatwoot server. Absent for all that are posted to a receiver. */
  readonly chatwoot?: ChatwootInbox;
  readonly created: number;
}
