/** Gateway methods for webhooks, deliveries and live events, and for the Chatwoot connector. */
import type {
  ChatwootInbox,
  DeliveryError,
  DeliveryRecord,
  DeliveryState,
  EventType,
  GatewayEvent,
  InstanceId,
  Result,
  Webhook,
} from '../model.ts';
import type { Attempt } from '../ports.ts';

// Gateway methods for webhooks, deliveries and live events.

/** The validated body of `POST /webhook` or `POST /globalwebhook`. */
export interface WebhookInput {
  readonly action: 'add' | 'update' | 'delete' | '';
  readonly id: string;
  readonly url: string;
  readonly enabled?: boolean;
  readonly events?: readonly string[];
  readonly excludeMessages?: readonly string[];
  readonly addUrlEvents?: boolean;
  readonly addUrlTypesMessages?: boolean;
  /** `true` generates a secret, '' removes the secret. Absent to keep the stored secret. */
  readonly secret?: string | true;
  /** Absent to keep the stored headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SavedWebhooks {
  /** All webhooks of the owner after the change. */
  readonly webhooks: readonly Webhook[];
  /** The id of the webhook whose secret this call generated; '' for none. The secret is shown only in the answer to this call. */
  readonly revealed: string;
}

/** A query for deliveries. Absent fields match any. */
export interface DeliveryFilter {
  readonly webhook?: string;
  readonly state?: DeliveryState;
  /** The earliest event time. In Unix milliseconds. */
  readonly from?: number;
  /** The latest event time. In Unix milliseconds. */
  readonly to?: number;
  readonly limit: number;
  readonly offset: number;
}

export interface ReplayFilter {
  readonly webhook?: string;
  /** Ids of events, which receivers know as `webhook-id`. */
  readonly ids?: readonly string[];
  readonly types?: readonly EventType[];
  readonly states?: readonly DeliveryState[];
  /** The earliest event time. In Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}

export interface DeliveryView extends DeliveryRecord {
  /** The time of the next attempt; 0 if the delivery waits in its lane, has ended, or cannot be posted now (`reason`). */
  readonly nextAttempt: number;
  /** The reason why the delivery waits or failed; '' if all is well. */
  readonly reason: string;
}

/** One delivery with its request. The request follows the current settings of the webhook. */
export interface DeliveryDetails extends DeliveryView {
  readonly url: string;
  /** The headers of the request; empty for a delivery to Chatwoot. The values of secret headers are masked. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the request. The token of the instance is masked. */
  readonly payload: unknown;
}

/** The queue of waiting deliveries of one webhook, over all instances. */
export interface QueueOfWebhook {
  readonly webhookId: string;
  readonly waiting: number;
  readonly parked: number;
  readonly bytes: number;
  /**
   * The number of events by type that were dropped because too many waited, or because they waited too long. Counted since the start of the process. In
   * a cluster, the numbers of all live nodes are added up.
   */
  readonly dropped: Readonly<Record<string, number>>;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[];
  readonly more: boolean;
  readonly queues: readonly QueueOfWebhook[];
}

export interface WebhookTest {
  /** The id of the test event, as in the header `webhook-id`. */
  readonly id: string;
  readonly url: string;
  readonly outcome: Attempt;
  readonly ms: number;
}

export interface ErrorHistory {
  /** The time since which the history is complete. In Unix milliseconds. */
  readonly since: number;
  readonly errors: readonly DeliveryError[];
}

/** Consecutive events of an instance without a gap. */
export interface StreamPast {
  /** The id of the event before the first one; null if the id is unknown. */
  readonly anchor: string | null;
  readonly events: readonly GatewayEvent[];
}

/** Webhooks, their deliveries, and the live events of an instance. */
export interface WebhookMethods {
  webhooks(id: InstanceId): readonly Webhook[];
  saveWebhook(id: InstanceId, input: WebhookInput): Promise<Result<SavedWebhooks>>;
  webhookErrors(id: InstanceId): Promise<ErrorHistory>;
  globalWebhook(): Webhook | null;
  saveGlobalWebhook(input: WebhookInput): Promise<Result<SavedWebhooks>>;
  /** Returns the errors of all nodes. The history is complete since the start of the node that started last. */
  globalWebhookErrors(): Promise<ErrorHistory>;
  /** Returns deliveries to the webhooks of an instance, or to the global webhook (null). */
  deliveries(owner: InstanceId | null, filter: DeliveryFilter): Promise<Result<DeliveryPage>>;
  /** Returns the newest delivery of the event `wanted.id` to a webhook of the owner, or to the webhook `wanted.webhook`. */
  delivery(owner: InstanceId | null, wanted: { readonly id: string; readonly webhook?: string }): Promise<Result<DeliveryDetails>>;
  /** Replays deliveries, and returns their number. */
  replay(owner: InstanceId | null, filter: ReplayFilter): Promise<Result<number>>;
  /**
   * Posts an event that is marked as a test, without the outbox. An absent `type` means `test`, which is not an event type of the interface. Refuses a second
   * test of an owner while the first test is under way.
   */
  testWebhook(owner: InstanceId | null, input: { readonly webhook?: string; readonly type?: string }): Promise<Result<WebhookTest>>;
  /**
   * Subscribes to all events of the instance that are committed from now on, in order. Calls `onEnd` once when the token rotates, the instance is
   * removed or the process stops. Calls `onGap` each time that events from another node were lost.
   */
  subscribe(id: InstanceId, onEvent: (event: GatewayEvent) => void, onEnd: () => void, onGap?: () => void): () => void;
  /**
   * Returns past events of the stream types, as far as the bus of the cluster retains them; null if no bus retains events. Between the returned events
   * and the events of a subscription that began before this call there is no gap. Never rejects.
   */
  past(id: InstanceId): Promise<StreamPast | null>;
}

// Gateway methods for the Chatwoot connector.

export interface ChatwootSettings extends Omit<ChatwootInbox, 'hook' | 'former'> {
  readonly enabled: boolean;
  readonly url: string;
}

export interface ChatwootMethods {
  /** Returns the settings with a masked access token; null if none were ever saved. */
  chatwoot(id: InstanceId): ChatwootSettings | null;
  /**
   * Replaces the settings. To enable the connector, Chatwoot must first confirm the inbox. A masked token keeps the stored token. `hookUrl`: the URL
   * to which the inbox has to post.
   */
  saveChatwoot(id: InstanceId, settings: ChatwootSettings): Promise<Result<{ readonly hookUrl: string }>>;
  /** Asks Chatwoot for the inbox of the settings, and changes nothing. A masked token stands for the stored token. Refuses (`invalid`) invalid settings. */
  testChatwoot(id: InstanceId, settings: ChatwootSettings): Promise<Result<{ readonly error: string; readonly ms: number }>>;
  /**
   * Takes a post of Chatwoot to the hook address. Resolves when the post is stored or ignored. The message is sent later. Refuses with `notFound` for an
   * unknown address. Refuses with `conflict` if the connector is off, or if the post is from another inbox.
   */
  chatwootPosted(hook: string, body: Readonly<Record<string, unknown>>): Promise<Result<null>>;
}
