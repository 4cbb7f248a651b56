/** Storage of campaigns and of opt-outs. The journal writes the state of a recipient together with the message. */
import type {
  Campaign,
  CampaignRecipient,
  CampaignSend,
  CampaignStatus,
  Claim,
  InstanceId,
  Message,
  OptOut,
  RecipientState,
  UsedSendKey,
} from '../model.ts';

export interface NewCampaign extends Pick<Campaign, 'id' | 'info' | 'scheduledFor' | 'delayMin' | 'delayMax' | 'created'> {
  /** The message for every recipient without an `own` message; null if each recipient has one. */
  readonly shared: CampaignSend | null;
}

/** A recipient of a new campaign. A recipient that can never get the message has the state `failed`, with the reason in `error`. */
export interface NewRecipient extends Pick<CampaignRecipient, 'number' | 'chatId' | 'error'> {
  readonly state: 'waiting' | 'failed';
  readonly own: CampaignSend | null;
}

/** The next recipient of a campaign. */
export interface DueMessage {
  readonly campaign: Campaign;
  /** Null if no recipient of the campaign waits. */
  readonly recipient: { readonly position: number; readonly number: string; readonly send: CampaignSend } | null;
}

export interface RecipientQuery {
  readonly campaignId: string;
  /** The states to select; null for all. */
  readonly states: readonly RecipientState[] | null;
  readonly limit: number;
  readonly offset: number;
}

/** A recipient with its stored message, if there is one. */
export interface RecipientRow extends CampaignRecipient {
  readonly message: Message | null;
  readonly send: CampaignSend;
}

/** The campaigns and recipients that a call marked for removal. The rows are deleted later. */
export interface RemovedCampaigns {
  readonly campaigns: number;
  readonly recipients: number;
}

/** Storage of campaigns. Every method with a claim rejects with `EpochLost` for a former owner. */
export interface CampaignStore {
  /**
   * Creates a campaign, all or nothing, with its recipients in batches of bounded size. The client's idempotency `key` is stored in the
   * same transaction.
   */
  create(claim: Claim, campaign: NewCampaign, recipients: readonly NewRecipient[], key: UsedSendKey | null): Promise<void>;
  /** Returns campaigns that are not being deleted, newest first, at most `limit`. `done`: true for finished campaigns, false for the others; null for all. */
  list(instance: InstanceId, done: boolean | null, limit: number): Promise<readonly Campaign[]>;
  /** Returns a campaign; null if the id is unknown or the campaign is being deleted. */
  get(instance: InstanceId, id: string): Promise<Campaign | null>;
  /** Returns recipients in the order of sending. */
  recipients(instance: InstanceId, query: RecipientQuery): Promise<readonly RecipientRow[]>;
  /** Counts the active campaigns (not paused), and their recipients that still wait. */
  active(instance: InstanceId): Promise<{ readonly campaigns: number; readonly waiting: number }>;
  /**
   * Returns the next message; null if no campaign is active. Among started campaigns, the one with the longest time since its last message is next. If none
   * has started, the campaign with the earliest start time is next. `without`: ids of campaigns that are left out.
   */
  next(instance: InstanceId, now: number, without: readonly string[]): Promise<DueMessage | null>;
  /** Returns the instances with active campaigns. */
  working(): Promise<readonly InstanceId[]>;
  /**
   * Settles recipients that an earlier run left in the state `sending`. The state becomes `sent` if the stored message was sent or has a receipt, else
   * `unknown`. The caller must settle before the first message of a run.
   */
  settle(claim: Claim, at: number): Promise<void>;
  /** Returns the time of the n-th newest campaign message after `since`; null if there are fewer than `n`. Messages of deleted campaigns count too. */
  nthSent(instance: InstanceId, since: number, n: number): Promise<number | null>;
  /** Counts the campaign messages after `since`. */
  sentSince(instance: InstanceId, since: number): Promise<number>;
  /**
   * Changes the status of a campaign to `to` if the current status is in `from`. Resolves with the status before the call in both cases; null if there is
   * no such campaign.
   */
  change(claim: Claim, id: string, from: readonly CampaignStatus[], to: CampaignStatus, at: number): Promise<CampaignStatus | null>;
  /**
   * Returns recipients with failed messages to the state `waiting`, at most `limit`. The campaign must be paused or done. Recipients whose number is
   * not valid stay `failed`. Returns the number of changed recipients.
   */
  retry(claim: Claim, id: string, at: number, limit: number): Promise<number>;
  /** Marks campaigns as `deleting`: those that finished before `doneBefore` (Unix milliseconds), or all campaigns if null. */
  removeAll(claim: Claim, doneBefore: number | null): Promise<RemovedCampaigns>;
  /** Marks campaigns that finished before this time as `deleting`, at most `limit`, over all instances. Returns the number of marked campaigns. */
  expire(before: number, limit: number): Promise<number>;
  /** Marks paused campaigns without a change since this time as `deleting`, at most `limit`, over all instances. Returns the number of marked campaigns. */
  expirePaused(before: number, limit: number): Promise<number>;
}

/** A page of opt-outs. `total` counts all pages. */
export interface CampaignOptOuts {
  readonly optOuts: readonly OptOut[];
  readonly total: number;
}

export interface OptOutStore {
  /** Returns true if a chat opted out of campaigns, under one of these ids or under the alternative address of one of them. */
  has(instance: InstanceId, chatIds: readonly string[]): Promise<boolean>;
  /** Returns a page of opt-outs, newest first. */
  list(instance: InstanceId, limit: number, offset: number): Promise<CampaignOptOuts>;
  /** Adds opt-outs and returns the number of new opt-outs. */
  add(claim: Claim, chatIds: readonly string[], at: number): Promise<number>;
  /** Removes opt-outs and returns the number of removed opt-outs. */
  remove(claim: Claim, chatIds: readonly string[]): Promise<number>;
}
