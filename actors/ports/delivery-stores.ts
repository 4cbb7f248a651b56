/** Storage of deliveries: what waits, what ended, what was replayed. */
import type { Claim, Delivery, DeliveryRecord, DeliveryState, EventType, InstanceId, LastAttempt } from '../model.ts';

/** A row of the outbox, and who changes it. */
export interface ClaimedRow extends Claim {
  readonly seq: number;
}

/** A row that waits for one of its lane, until the time of that one. */
export interface HeldRow {
  readonly seq: number;
  readonly lane: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** Writes reject with `EpochLost` when one of the claims is void; rows under claims that hold are written all the same. */
export interface OutboxStore {
  /**
   * Reads a page of rows of one webhook and instance that are due, in order: at most `rows` of them, and of `bytes` only what fits, but one in any
   * case. A row behind one of its lane that is parked beyond `now`, and so is not on the page, stands in `held`. `more`: others are due.
   */
  due(
    webhookId: string,
    instanceId: InstanceId,
    now: number,
    most: { readonly rows: number; readonly bytes: number },
  ): Promise<{ readonly rows: readonly Delivery[]; readonly held: readonly HeldRow[]; readonly more: boolean }>;
  /** Parks rows without counting an attempt. */
  hold(rows: readonly (ClaimedRow & HeldRow)[]): Promise<void>;
  /** At most `limit` lanes with a row that is parked beyond `now`. */
  heldLanes(webhookId: string, instanceId: InstanceId, now: number, limit: number): Promise<readonly string[]>;
  /** Earliest `notBefore` of rows that are parked; null when none is. */
  nextDue(webhookId: string, instanceId: InstanceId): Promise<number | null>;
  /** Takes rows out for good. */
  remove(rows: readonly ClaimedRow[]): Promise<void>;
  /** Takes rows out and keeps them among the past ones. */
  archive(ended: readonly (Ended & Claim)[]): Promise<void>;
  /** Parks a row. */
  postpone(row: ClaimedRow, notBefore: number, last: LastAttempt): Promise<void>;
  /** (webhook, instance) pairs that have rows: what must be started at boot. Does not read the rows. */
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

/** What waits for one webhook, and how many past deliveries of it are kept. */
export interface Tally {
  readonly webhookId: string;
  readonly waiting: number;
  readonly parked: number;
  /** Of the bodies of those that wait or are parked. */
  readonly bytes: number;
  readonly delivered: number;
  readonly dead: number;
}

/** Times of the oldest events of one webhook, by what became of them; null for none. `waiting`: parked ones included. */
export interface OldestTimes {
  readonly webhookId: string;
  readonly waiting: number | null;
  readonly delivered: number | null;
  readonly dead: number | null;
}

/** What is too much: so many rows, so many bytes, and all events before a time. */
export interface Excess {
  readonly rows: number;
  readonly bytes: number;
  readonly before: number;
}

/** Deliveries as people look at them, and the bounds of what is kept. */
export interface DeliveryStore {
  /** Newest first. `more`: whether anything follows after this page. */
  list(query: DeliveryQuery): Promise<{ readonly deliveries: readonly DeliveryRecord[]; readonly more: boolean }>;
  /** Puts past deliveries back into the outbox, oldest first, and makes parked ones due. Answers how many of each instance. */
  replay(query: ReplayQuery): Promise<readonly Replayed[]>;
  /** Of these webhooks, or (null) of every one; those without deliveries may be left out. Does not read the deliveries. */
  tally(webhooks: readonly string[] | null): Promise<readonly Tally[]>;
  /** Time of the oldest event in the outbox, parked ones included; null when it is empty. */
  oldest(): Promise<number | null>;
  /** One row for each of these webhooks. Its cost grows with the webhooks, and not with their deliveries. */
  oldestOf(webhooks: readonly string[]): Promise<readonly OldestTimes[]>;
  /** Shortens what `tally` reads. To be called from time to time. */
  foldTallies(): Promise<void>;
  /**
   * Drops the oldest deliveries of these types that wait, until the excess is gone. One piece of bounded size; to be called again until it answers
   * with nothing. Answers how many of each type.
   */
  trim(webhookId: string, types: readonly EventType[], excess: Excess): Promise<Readonly<Record<string, number>>>;
  /** Forgets the oldest past deliveries, dead or delivered ones, until the excess is gone. In pieces as `trim`; answers how many. */
  forget(webhookId: string, dead: boolean, excess: Omit<Excess, 'bytes'>): Promise<number>;
}
