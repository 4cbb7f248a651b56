/** Storage of campaigns and of contacts that asked to get none. What happens to a recipient is written by the journal, with the message. */
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
  /** What every recipient gets that has no message of its own. */
  readonly shared: CampaignSend | null;
}

/** A recipient that can never get the message has the state `failed`, with the reason in `error`. */
export interface NewRecipient extends Pick<CampaignRecipient, 'number' | 'chatId' | 'error'> {
  readonly state: 'waiting' | 'failed';
  readonly own: CampaignSend | null;
}

/** Whose turn it is. */
export interface CampaignTurn {
  readonly campaign: Campaign;
  /** Null: nobody waits any more. */
  readonly recipient: { readonly position: number; readonly number: string; readonly send: CampaignSend } | null;
}

export interface RecipientQuery {
  readonly campaignId: string;
  /** Null: all. */
  readonly states: readonly RecipientState[] | null;
  readonly limit: number;
  readonly offset: number;
}

/** A recipient with its message, as far as that is stored. */
export interface RecipientRow extends CampaignRecipient {
  readonly message: Message | null;
  readonly send: CampaignSend;
}

/** Campaigns and their recipients that a call removed; their rows go later. */
export interface RemovedCampaigns {
  readonly campaigns: number;
  readonly recipients: number;
}

/** Every method with a claim rejects with `EpochLost` for a former owner. */
export interface CampaignStore {
  /** All or nothing, in pieces of bounded size; with the key of the client, when there is one, which answers for it from then on. */
  create(claim: Claim, campaign: NewCampaign, recipients: readonly NewRecipient[], key: UsedSendKey | null): Promise<void>;
  /** Newest first, at most `limit`, without those that are being deleted. `done`: only those that are, or only the others; null: all. */
  list(instance: InstanceId, done: boolean | null, limit: number): Promise<readonly Campaign[]>;
  /** Null for an unknown one, and for one that is being deleted. */
  get(instance: InstanceId, id: string): Promise<Campaign | null>;
  /** In the order in which they are sent. */
  recipients(instance: InstanceId, query: RecipientQuery): Promise<readonly RecipientRow[]>;
  /** How many recipients wait to be sent, of campaigns that are not paused, and how many campaigns those are. */
  active(instance: InstanceId): Promise<{ readonly campaigns: number; readonly waiting: number }>;
  /**
   * The next turn: of the campaigns whose time has come the one that had no turn for longest; when none has come, the one whose time is next. Null when no
   * campaign is active.
   */
  next(instance: InstanceId, now: number): Promise<CampaignTurn | null>;
  /** Instances with active campaigns. */
  working(): Promise<readonly InstanceId[]>;
  /**
   * Settles recipients whose message an earlier run stored and did not see answered: `sent` when a receipt has come since, else `unknown`. To be called
   * before the first turn of a run.
   */
  settle(claim: Claim, at: number): Promise<void>;
  /** When the n-th newest message of campaigns was written, of those after `since`; null when there are fewer. Deleted campaigns count too. */
  nthSent(instance: InstanceId, since: number, n: number): Promise<number | null>;
  /** Messages of campaigns written after `since`. */
  sentSince(instance: InstanceId, since: number): Promise<number>;
  /** Gives a campaign that is in one of the statuses `from` the status `to`. Resolves with the status that it had; null when there is none. */
  change(claim: Claim, id: string, from: readonly CampaignStatus[], to: CampaignStatus, at: number): Promise<CampaignStatus | null>;
  /**
   * Lets recipients of a paused or done campaign wait again whose message failed, at most `limit`; how many. Those whose number names no chat stay as they
   * are.
   */
  retry(claim: Claim, id: string, at: number, limit: number): Promise<number>;
  /** Marks campaigns as `deleting`: those that were done before this time, or (null) all. */
  removeAll(claim: Claim, doneBefore: number | null): Promise<RemovedCampaigns>;
  /** Marks campaigns of all instances that were done before this time, at most `limit`; how many. */
  expire(before: number, limit: number): Promise<number>;
  /** The same for campaigns that are paused and were changed last before this time. */
  expirePaused(before: number, limit: number): Promise<number>;
}

/** `total`: of all pages. */
export interface CampaignOptOuts {
  readonly optOuts: readonly OptOut[];
  readonly total: number;
}

export interface OptOutStore {
  /** Whether a chat gets no campaigns: by one of these ids, or by the other address of one of them. */
  has(instance: InstanceId, chatIds: readonly string[]): Promise<boolean>;
  /** Newest first. */
  list(instance: InstanceId, limit: number, offset: number): Promise<CampaignOptOuts>;
  /** How many were not there. */
  add(claim: Claim, chatIds: readonly string[], at: number): Promise<number>;
  /** How many were there. */
  remove(claim: Claim, chatIds: readonly string[]): Promise<number>;
}
