/** Receivers of webhooks, and storage of waiting, ended and replayed deliveries. */
import type {
  Claim,
  Delivery,
  DeliveryInFull,
  DeliveryRecord,
  DeliveryState,
  EventSender,
  EventType,
  InstanceId,
  LastAttempt,
} from '../model.ts';

// Receivers of webhooks.

/** The outcome of one POST to a receiver. */
export type Attempt =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false;
      readonly status?: number;
      readonly error: string;
      /** The beginning of the body of the answer. The body may contain data of the operator's internal network. */
      readonly answer?: string;
      /** The time until a retry may work. In seconds. */
      readonly retryAfter?: number;
      /** The shortest time before the next attempt of this delivery. Other lanes do not wait. In seconds. */
      readonly laneAfter?: number;
      /** True if the delivery has to wait for another event. The wait says nothing about the health of the receiver. */
      readonly waits?: true;
    };

/** The functions that abort posts, one for each post in flight. An aborted post fails at once. */
export type Cuts = Set<() => void>;

export interface Receiver {
  /** Posts JSON and waits at most for the configured time. While the post is in flight, `cuts` contains its abort function. Never rejects. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, cuts?: Cuts): Promise<Attempt>;
  /** Returns the reason why this address is never posted to (scheme, form, a forbidden IP literal), or null. Resolves no host name. */
  objection(url: string): string | null;
}

/** Signatures of the Standard Webhooks specification. */
export interface Signer {
  /** Generates a secret: `whsec_` and base64. */
  make(): string;
  /** Returns the reason why this text is not a valid secret, or null. */
  objection(secret: string): string | null;
  /** Returns the value of `webhook-signature`. `timestamp` is in seconds. */
  sign(secret: string, id: string, timestamp: number, body: string): string;
}

/** Returns the envelope keys of a webhook body, in the spelling of the interface. Pure. A test delivery may have a `type` outside the interface. */
export type Envelope = (sender: EventSender, type: string) => Readonly<Record<string, unknown>>;

// Storage of waiting, ended and replayed deliveries.

/** A row of the outbox, with the claim of the node that changes it. */
export interface ClaimedRow extends Claim {
  readonly seq: number;
}

/** A row that waits behind a parked row of its lane. */
export interface HeldRow {
  readonly seq: number;
  readonly lane: string;
  /** The time at which the parked row is due. In Unix milliseconds. */
  readonly until: number;
}

/** The outbox. Writes reject with `EpochLost` if one of the claims is void. Rows with valid claims are written nevertheless. */
export interface OutboxStore {
  /**
   * Returns a page of due rows of one webhook and instance, in order. The page has at most `rows` rows and `bytes` bytes, but at least one row.
   * `held` lists due rows that wait, because an earlier row of their lane is parked beyond `now`. `more`: other rows are due.
   */
  due(
    webhookId: string,
    instanceId: InstanceId,
    now: number,
    most: { readonly rows: number; readonly bytes: number },
  ): Promise<{ readonly rows: readonly Delivery[]; readonly held: readonly HeldRow[]; readonly more: boolean }>;
  /** Parks rows until the time in `until`, without counting an attempt. */
  hold(rows: readonly (ClaimedRow & HeldRow)[]): Promise<void>;
  /** Returns at most `limit` lanes with a row that is parked beyond `now`. */
  heldLanes(webhookId: string, instanceId: InstanceId, now: number, limit: number): Promise<readonly string[]>;
  /** Returns the earliest `notBefore` of parked rows; null if none is parked. */
  nextDue(webhookId: string, instanceId: InstanceId): Promise<number | null>;
  /** Deletes rows from the outbox for good. */
  remove(rows: readonly ClaimedRow[]): Promise<void>;
  /** Moves rows from the outbox to the past deliveries. */
  archive(ended: readonly (Ended & Claim)[]): Promise<void>;
  /** Parks a row until `notBefore` and stores its last attempt. */
  postpone(row: ClaimedRow, notBefore: number, last: LastAttempt): Promise<void>;
  /** Returns the (webhook, instance) pairs that have rows, for the start of their couriers at boot. Does not read the rows. */
  pending(): Promise<readonly { readonly webhookId: string; readonly instanceId: InstanceId }[]>;
}

/** A delivery that has ended. */
export interface Ended extends LastAttempt {
  readonly seq: number;
  /** True if the delivery is a dead letter; false if it was delivered. */
  readonly dead: boolean;
  readonly endedAt: number;
}

export interface DeliveryQuery {
  /** The webhooks to search. */
  readonly webhooks: readonly string[];
  /** The instance of the webhooks; null or absent for global webhooks. The query uses the owner's share of the database connections. */
  readonly owner?: InstanceId | null;
  readonly state: DeliveryState | null;
  /** The period of the event times, inclusive; absent for no bound. In Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  readonly offset: number;
}

export interface ReplayQuery {
  /** The instance of the webhook; null for a global webhook. Replays of different owners take turns. */
  readonly owner: InstanceId | null;
  readonly webhook: string;
  /** Ids of events; null for any. */
  readonly events: readonly string[] | null;
  /** Null for any. */
  readonly types: readonly EventType[] | null;
  readonly states: readonly DeliveryState[];
  /** The period of the event times, inclusive. In Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

export interface Replayed {
  readonly instanceId: InstanceId;
  readonly count: number;
}

/** The numbers of deliveries of one webhook by state. */
export interface Tally {
  readonly webhookId: string;
  readonly waiting: number;
  readonly parked: number;
  /** The size of the bodies of waiting and parked deliveries. In bytes. */
  readonly bytes: number;
  readonly delivered: number;
  readonly dead: number;
}

/** The times of the oldest deliveries of one webhook by state; null for none. `waiting` includes parked deliveries. */
export interface OldestTimes {
  readonly webhookId: string;
  readonly waiting: number | null;
  readonly delivered: number | null;
  readonly dead: number | null;
}

/** The excess to remove: a number of rows, a number of bytes, and all events from before a time. */
export interface Excess {
  readonly rows: number;
  readonly bytes: number;
  readonly before: number;
}

/** Deliveries for display, and the limits of their storage. */
export interface DeliveryStore {
  /** Returns a page, newest first. `more`: other pages follow. */
  list(query: DeliveryQuery): Promise<{ readonly deliveries: readonly DeliveryRecord[]; readonly more: boolean }>;
  /**
   * Returns the newest delivery of an event to one of these webhooks; null if there is none. Reads all deliveries of the webhooks. `owner`: as in
   * `DeliveryQuery`.
   */
  find(webhooks: readonly string[], eventId: string, owner?: InstanceId | null): Promise<DeliveryInFull | null>;
  /** Moves past deliveries back into the outbox, oldest first, and makes parked deliveries due. Returns the number of deliveries for each instance. */
  replay(query: ReplayQuery): Promise<readonly Replayed[]>;
  /**
   * Returns the tallies of these webhooks, or of all (null). Webhooks without deliveries may be missing. Does not read the deliveries. `owner`: as in
   * `DeliveryQuery`; absent if no client waits for the tallies.
   */
  tally(webhooks: readonly string[] | null, owner?: InstanceId | null): Promise<readonly Tally[]>;
  /** Returns the time of the oldest event in the outbox, parked events included; null if the outbox is empty. */
  oldest(): Promise<number | null>;
  /** Returns the oldest times of each of these webhooks. The cost grows with the webhooks, not with their deliveries. */
  oldestOf(webhooks: readonly string[]): Promise<readonly OldestTimes[]>;
  /** Compacts the rows that `tally` reads. The sweeper must call this method from time to time. */
  foldTallies(): Promise<void>;
  /**
   * Drops the oldest waiting deliveries of these types until the excess is gone. One call handles a batch of bounded size. The caller repeats the
   * call until the result is empty. Returns the number of dropped deliveries for each type.
   */
  trim(webhookId: string, types: readonly EventType[], excess: Excess): Promise<Readonly<Record<string, number>>>;
  /**
   * Deletes the oldest past deliveries, either dead or delivered, until the excess is gone. Works in batches like `trim`. Returns the number of deleted
   * deliveries.
   */
  forget(webhookId: string, dead: boolean, excess: Omit<Excess, 'bytes'>): Promise<number>;
}
