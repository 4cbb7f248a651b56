/** Storage of deliveries: what waits, what ended, what was replayed. */
import type { Claim, Delivery, DeliveryRecord, DeliveryState, EventType, InstanceId, LastAttempt } from '../model.ts';

/** A row of the outbox, and who changes it. */
export interface ClaimedRow extends Claim {
  readonly seq: number;
}

/** Writes reject with `EpochLost` when one of the claims is void; rows under claims that hold are written all the same. */
export interface OutboxStore {
  /** Rows of one webhook after `seq` that are due, in order, at most `limit`. */
  due(webhookId: string, instanceId: InstanceId, after: number, now: number, limit: number): Promise<readonly Delivery[]>;
  /** Earliest `notBefore` of rows that are parked; null when none is. */
  nextDue(webhookId: string, instanceId: InstanceId): Promise<number | null>;
  /** Takes rows out for good. */
  remove(rows: readonly ClaimedRow[]): Promise<void>;
  /** Takes rows out and keeps them among the past ones. */
  archive(ended: readonly (Ended & Claim)[]): Promise<void>;
  /** Parks a row. */
  postpone(row: ClaimedRow, notBefore: number, last: LastAttempt): Promise<void>;
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
