/** What the actors need of storage. Methods reject with `StorageUnavailable` when it is away, and with surprises. */
import type {
  Chat,
  Delivery,
  DeliveryRecord,
  DeliveryState,
  Entry,
  EventType,
  GatewayEvent,
  InstanceId,
  InstancePatch,
  InstanceRecord,
  LastAttempt,
  Message,
  MessageStatus,
  Webhook,
  ReadKey,
} from './model.ts';

export interface InstanceStore {
  /** All of them, at start. */
  all(): Promise<readonly InstanceRecord[]>;
  insert(record: InstanceRecord): Promise<void>;
  /** Sets `updated` too. False when the instance is gone. */
  update(id: InstanceId, patch: InstancePatch): Promise<boolean>;
  /** Removes the instance with everything that belongs to it, in one transaction. */
  remove(id: InstanceId): Promise<void>;
}

export interface WebhookStore {
  all(): Promise<readonly Webhook[]>;
  save(webhook: Webhook): Promise<void>;
  /** With what waits for it. */
  remove(id: string): Promise<void>;
}

/** What one commit brought about. */
export interface Committed {
  readonly events: readonly GatewayEvent[];
  readonly deliveries: readonly Delivery[];
}

/** Where entries become rows: one transaction for messages, chats and outbox together. */
export interface Journal {
  /**
   * Commits the entries in their order. `targets` says which webhooks want an event; a delivery row is made for each.
   * Committing the same entries again is harmless. All or nothing.
   */
  commit(
    instance: { readonly id: InstanceId; readonly owner: string },
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
  ): Promise<Committed>;
}

export interface MessageQuery {
  /** Short id, platform id, or `<owner>:<either>`. */
  readonly id?: string;
  readonly chatId?: string;
  readonly trackSource?: string;
  readonly trackId?: string;
  readonly limit: number;
  readonly offset: number;
}

export interface MessageStore {
  /** Newest first. `more`: whether anything follows after this page. */
  find(instance: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  byId(instance: InstanceId, id: string): Promise<Message | null>;
  /** Messages received in a chat and not yet marked as read by this account, newest first, at most `limit`. */
  unread(instance: InstanceId, chatId: string, limit: number): Promise<readonly ReadKey[]>;
  /** Messages that wait with this status, oldest first, at most `limit`. */
  waiting(instance: InstanceId, status: MessageStatus, limit: number): Promise<readonly Message[]>;
  /** Instances that have messages with status `Queued`: what a start has to look after. */
  queueing(): Promise<readonly InstanceId[]>;
}

/** One comparison; `field` is a Chat field by its API name (checked by the caller against the contract's table). */
export interface ChatFilter {
  readonly field: string;
  readonly operator: '~' | '!~' | '=' | '!=' | '>=' | '>' | '<=' | '<';
  readonly value: string | number | boolean;
}

export interface ChatQuery {
  readonly filters: readonly ChatFilter[];
  readonly any: boolean;
  /** API name of a Chat field. */
  readonly sort: { readonly field: string; readonly descending: boolean } | null;
  readonly limit: number;
  readonly offset: number;
}

export interface ChatStore {
  find(instance: InstanceId, query: ChatQuery): Promise<{ readonly chats: readonly Chat[]; readonly total: number }>;
  get(instance: InstanceId, chatId: string): Promise<Chat | null>;
  /** Counts over all chats of the instance, for `totalChatsStats`. */
  stats(instance: InstanceId): Promise<Readonly<Record<string, number>>>;
}

export interface OutboxStore {
  /** Rows of one webhook after `seq` that are due, in order, at most `limit`. */
  due(webhookId: string, instanceId: InstanceId, after: number, now: number, limit: number): Promise<readonly Delivery[]>;
  /** Earliest `notBefore` of rows that are parked; null when none is. */
  nextDue(webhookId: string, instanceId: InstanceId): Promise<number | null>;
  /** Takes rows out for good. */
  remove(seqs: readonly number[]): Promise<void>;
  /** Takes rows out and keeps them among the past ones. */
  archive(ended: readonly Ended[]): Promise<void>;
  /** Parks a row. */
  postpone(seq: number, notBefore: number, last: LastAttempt): Promise<void>;
  /** (webhook, instance) pairs that have rows: what must be started at boot. */
  pending(): Promise<readonly { readonly webhookId: string; readonly instanceId: InstanceId }[]>;
}

/** A delivery that is over. */
export interface Ended extends LastAttempt {
  readonly seq: number;
  /** Given up; else delivered. */
  readonly dead: boolean;
  readonly endedAt: number;
}

export interface DeliveryQuery {
  /** Of these webhooks only. */
  readonly webhooks: readonly string[];
  readonly state: DeliveryState | null;
  readonly limit: number;
  readonly offset: number;
}

export interface ReplayQuery {
  readonly webhook: string;
  /** Ids of events; null: any. */
  readonly events: readonly string[] | null;
  /** null: any. */
  readonly types: readonly EventType[] | null;
  readonly states: readonly DeliveryState[];
  /** Time of the event, both included. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

export interface Replayed {
  readonly instanceId: InstanceId;
  readonly count: number;
}

/** What waits for one webhook and what became of the rest. */
export interface Tally {
  readonly webhookId: string;
  readonly waiting: number;
  readonly parked: number;
  readonly bytes: number;
  /** Time of the oldest event that waits; 0 when nothing does. */
  readonly oldest: number;
}

export interface OutboxBounds {
  readonly rows: number;
  readonly bytes: number;
  /** Events before this time go, whatever they are. */
  readonly before: number;
}

/** Deliveries as people look at them, and the bounds of what is kept. */
export interface DeliveryStore {
  /** Newest first. `more`: whether anything follows after this page. */
  list(query: DeliveryQuery): Promise<{ readonly deliveries: readonly DeliveryRecord[]; readonly more: boolean }>;
  /** Puts past deliveries back into the outbox, oldest first, and makes parked ones due. Answers how many of each instance. */
  replay(query: ReplayQuery): Promise<readonly Replayed[]>;
  /** Of these webhooks, or (null) of every one; those that nothing waits for are left out. */
  tally(webhooks: readonly string[] | null): Promise<readonly Tally[]>;
  /** Drops what is over the bounds: the least important types first, of one type the oldest. `ranks`: importance of types, 0 goes first. */
  trim(webhookId: string, bounds: OutboxBounds, ranks: Readonly<Record<EventType, number>>): Promise<Readonly<Record<string, number>>>;
  /** Forgets past deliveries before these times, and of each webhook all but the newest `rows` delivered and dead ones. */
  forget(rows: number, deliveredBefore: number, deadBefore: number): Promise<void>;
}

/** Server-wide values, small and few. */
export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
}

/** Everything that is kept. */
export interface Stores {
  readonly instances: InstanceStore;
  readonly webhooks: WebhookStore;
  readonly journal: Journal;
  readonly messages: MessageStore;
  readonly chats: ChatStore;
  readonly outbox: OutboxStore;
  readonly deliveries: DeliveryStore;
  readonly settings: SettingStore;
}
