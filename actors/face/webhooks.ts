/** What the gateway offers on webhooks, deliveries and live events. */
import type { DeliveryError, DeliveryRecord, DeliveryState, EventType, GatewayEvent, InstanceId, Result, Webhook } from '../model.ts';
import type { Attempt } from '../ports.ts';

/** POST /webhook and /globalwebhook after validation. */
export interface WebhookInput {
  readonly action: 'add' | 'update' | 'delete' | '';
  readonly id: string;
  readonly url: string;
  readonly enabled?: boolean;
  readonly events?: readonly string[];
  readonly excludeMessages?: readonly string[];
  readonly addUrlEvents?: boolean;
  readonly addUrlTypesMessages?: boolean;
  /** true: one is made; '': none; absent: as it is. */
  readonly secret?: string | true;
  /** Absent: as they are. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SavedWebhooks {
  /** All webhooks of the owner afterwards. */
  readonly webhooks: readonly Webhook[];
  /** The webhook whose secret was made now and may be shown this once, '' for none. */
  readonly revealed: string;
}

/** What a question about deliveries or a replay is about; absent fields mean any. */
export interface DeliveryFilter {
  readonly webhook?: string;
  readonly state?: DeliveryState;
  readonly limit: number;
  readonly offset: number;
}

export interface ReplayFilter {
  readonly webhook?: string;
  /** Ids of events, as receivers know them from `webhook-id`. */
  readonly ids?: readonly string[];
  readonly types?: readonly EventType[];
  readonly states?: readonly DeliveryState[];
  /** Unix milliseconds of the event. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}

export interface DeliveryView extends DeliveryRecord {
  /** 0: as soon as its turn comes, or never when it has ended. */
  readonly nextAttempt: number;
  /** Why it waits or failed, '' when nothing is wrong. */
  readonly reason: string;
}

/** What waits for a webhook as a whole. */
export interface QueueOfWebhook {
  readonly webhookId: string;
  readonly waiting: number;
  readonly parked: number;
  readonly bytes: number;
  /** Events by type that were dropped since the start of the process (of each live node, in a cluster), because too much waited. */
  readonly dropped: Readonly<Record<string, number>>;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[];
  readonly more: boolean;
  readonly queues: readonly QueueOfWebhook[];
}

export interface WebhookTest {
  /** As in the header `webhook-id`. */
  readonly id: string;
  readonly url: string;
  readonly outcome: Attempt;
  readonly ms: number;
}

export interface ErrorHistory {
  /** Since when the capture is valid. */
  readonly since: number;
  readonly errors: readonly DeliveryError[];
}

/** Events of an instance without a gap between them. */
export interface StreamPast {
  /** Id of the event before the first one; null when it is not known. */
  readonly anchor: string | null;
  readonly events: readonly GatewayEvent[];
}

/** Webhooks, their deliveries, and the live events of an instance. */
export interface WebhookFace {
  webhooks(id: InstanceId): readonly Webhook[];
  saveWebhook(id: InstanceId, input: WebhookInput): Promise<Result<SavedWebhooks>>;
  webhookErrors(id: InstanceId): Promise<ErrorHistory>;
  globalWebhook(): Webhook | null;
  saveGlobalWebhook(input: WebhookInput): Promise<Result<SavedWebhooks>>;
  /** Of all nodes; complete since the start of the latest one. */
  globalWebhookErrors(): Promise<ErrorHistory>;
  /* of the webhooks of an instance, or (null) of the global one */
  deliveries(owner: InstanceId | null, filter: DeliveryFilter): Promise<Result<DeliveryPage>>;
  /** How many deliveries are sent again. */
  replay(owner: InstanceId | null, filter: ReplayFilter): Promise<Result<number>>;
  /** Posts a marked event outside of the queue. `type` absent: `test`, which is no event type of the interface. */
  testWebhook(owner: InstanceId | null, input: { readonly webhook?: string; readonly type?: string }): Promise<Result<WebhookTest>>;
  /**
   * Every committed event of the instance from now on, in order. `onEnd` is called once when the token rotates, the instance goes or the server
   * stops; `onGap` each time that events were lost on their way from another node.
   */
  subscribe(id: InstanceId, onEvent: (event: GatewayEvent) => void, onEnd: () => void, onGap?: () => void): () => void;
  /**
   * Events of the types of streams up to those that a subscription gets which was made before, as far as other nodes keep them; null when none are.
   * Never rejects.
   */
  past(id: InstanceId): Promise<StreamPast | null>;
}
