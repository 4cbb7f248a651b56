/**
 * What the gateway offers to HTTP: commands in, results and snapshots out. `gateway.ts` implements it and re-exports it.
 *
 * Ordinary failures are `Result`s; a method rejects only for surprises (`StorageUnavailable` → 503, the rest → 500).
 */
import type {
  Chat,
  DeliveryError,
  DeliveryRecord,
  DeliveryState,
  EventType,
  GatewayEvent,
  InstanceId,
  InstancePatch,
  InstanceRecord,
  Message,
  Result,
  Status,
  Webhook,
} from './model.ts';
import type { Attempt, ChatQuery, MessageQuery, TextSend } from './ports.ts';
import type { VitalsView } from './session/vitals.ts';

/** A record together with what its actor says now. */
export interface InstanceView {
  readonly record: InstanceRecord;
  readonly status: Status;
  /** Authenticated and live. */
  readonly connected: boolean;
  /** Credentials of a finished pairing exist. */
  readonly loggedIn: boolean;
  /** PNG data URL, '' when there is none now. */
  readonly qrcode: string;
  readonly paircode: string;
  readonly presence: 'available' | 'unavailable';
}

/** Fields that every send has (contract/behaviour.md). */
export interface SendOptions {
  /** Milliseconds of visible typing before the send. */
  readonly delay: number;
  readonly readChat: boolean;
  readonly readMessages: boolean;
  readonly trackSource: string;
  readonly trackId: string;
  readonly async: boolean;
  /** What the client sent, base64 left out; comes back as `sendPayload`. */
  readonly payload: unknown;
}

export interface QueueView {
  readonly status: 'idle' | 'processing' | 'waiting_connection' | 'resetting';
  readonly pending: number;
  readonly processingNow: boolean;
  readonly acceptingNewMessages: boolean;
  readonly sessionReady: boolean;
  readonly resetting: boolean;
}

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
  /** Events by type that were dropped since the start of the process, because too much waited. */
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

/** Figures of the server and of every instance; times in milliseconds. */
export interface Numbers {
  readonly registered: number;
  readonly disconnected: number;
  readonly connecting: number;
  readonly connected: number;
  readonly hibernated: number;
  /** Of the disconnected ones: stopped for crashing again and again. */
  readonly failed: number;
  readonly handshakesWaiting: number;
  /** Why all connects wait for one canary (`clientTooOld`, `outage`), '' when they do not. */
  readonly barrier: string;
  /** 99th percentile of the event loop's delay over the last minute. */
  readonly loopLagMs: number;
  /** Deliveries of all webhooks that wait, when they were last counted (WEBHOOK_SWEEP_MS). */
  readonly outbox: { readonly waiting: number; readonly parked: number };
  readonly instances: readonly ({ readonly id: InstanceId; readonly status: Status } & VitalsView)[];
}

export interface Gateway {
  /** The instance of a token, or null. Constant time in the number of instances. */
  authenticate(token: string): InstanceId | null;
  isAdmin(token: string): boolean;
  /** False while the server is stopping: new work is answered with 503. */
  readonly accepting: boolean;

  /* instances: an id that is unknown is a refusal `notFound` */
  create(input: { readonly name: string; readonly adminField01: string; readonly adminField02: string }): Promise<Result<InstanceView>>;
  all(): readonly InstanceView[];
  view(id: InstanceId): InstanceView | null;
  /** Starts pairing or connecting, or joins what is under way; answers when there is a QR, a code, a connection or a refusal, at the latest after some seconds. */
  connect(
    id: InstanceId,
    options: { readonly phone?: string; readonly browser?: string; readonly systemName?: string },
  ): Promise<Result<InstanceView>>;
  /** Logs out and deletes the credentials. */
  disconnect(id: InstanceId): Promise<Result<InstanceView>>;
  /** Closes the running session and opens it again with the same credentials. */
  reset(id: InstanceId): Promise<Result<InstanceView>>;
  /** Closes the session, keeps the credentials. */
  hibernate(id: InstanceId): Promise<Result<InstanceView>>;
  update(id: InstanceId, patch: InstancePatch): Promise<Result<InstanceView>>;
  remove(id: InstanceId): Promise<Result<null>>;
  /** The new token; the old one is void at once and its streams end. */
  rotateToken(id: InstanceId): Promise<Result<InstanceView>>;
  /** The new admin token, 50 letters and digits; `capped` with `retryAfter` inside the cooldown. */
  rotateAdminToken(): Promise<Result<string>>;
  presence(id: InstanceId, presence: 'available' | 'unavailable'): Promise<Result<null>>;

  /* messages */
  sendText(id: InstanceId, send: TextSend, options: SendOptions): Promise<Result<Message>>;
  findMessages(id: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  findChats(
    id: InstanceId,
    query: ChatQuery,
  ): Promise<{ readonly chats: readonly Chat[]; readonly total: number; readonly stats: Readonly<Record<string, number>> }>;
  queue(id: InstanceId): Promise<QueueView>;
  /** Cancels what waits in the asynchronous queue; the number of cancelled messages. */
  clearQueue(id: InstanceId): Promise<Result<number>>;

  /* events */
  webhooks(id: InstanceId): readonly Webhook[];
  saveWebhook(id: InstanceId, input: WebhookInput): Promise<Result<SavedWebhooks>>;
  webhookErrors(id: InstanceId): ErrorHistory;
  globalWebhook(): Webhook | null;
  saveGlobalWebhook(input: WebhookInput): Promise<Result<SavedWebhooks>>;
  globalWebhookErrors(): ErrorHistory;
  /* of the webhooks of an instance, or (null) of the global one */
  deliveries(owner: InstanceId | null, filter: DeliveryFilter): Promise<Result<DeliveryPage>>;
  /** How many deliveries are sent again. */
  replay(owner: InstanceId | null, filter: ReplayFilter): Promise<Result<number>>;
  /** Posts a marked event outside of the queue. `type` absent: `test`, which is no event type of the interface. */
  testWebhook(owner: InstanceId | null, input: { readonly webhook?: string; readonly type?: string }): Promise<Result<WebhookTest>>;
  /** Every committed event of the instance from now on, in order. `onEnd` is called once when the token rotates, the instance goes or the server stops. */
  subscribe(id: InstanceId, onEvent: (event: GatewayEvent) => void, onEnd: () => void): () => void;

  /* server */
  /** Figures of quality, per instance and in total. */
  numbers(): Numbers;
  /** How far the restore after a start is. */
  ready(): { readonly restored: number; readonly total: number };
}
