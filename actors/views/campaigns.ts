/** Gateway methods for campaigns. */
import type { Campaign, CampaignSend, CreatedCampaign, EstimatedCampaign, InstanceId, Result } from '../model.ts';
import type { GivenKey } from './messages.ts';
import type { CampaignOptOuts, RecipientQuery, RecipientRow, RemovedCampaigns } from '../ports.ts';

export interface CampaignInput {
  readonly info: string;
  /** The shortest pause between two messages. In milliseconds. */
  readonly delayMin: number;
  readonly delayMax: number;
  /** The start time. Unix milliseconds; a time in the past starts at once. */
  readonly scheduledFor: number;
  /** The message for recipients without a message of their own. */
  readonly shared: CampaignSend | null;
  readonly recipients: readonly { readonly number: string; readonly own: CampaignSend | null }[];
  /** The idempotency key, as in `SendOptions`. The same key returns the first answer and makes no second campaign. */
  readonly once?: GivenKey;
}

/** The pace of an instance, and the remaining work of its campaigns. */
export interface CampaignStats {
  readonly campaigns: readonly Campaign[];
  /** The number of waiting recipients of running and scheduled campaigns. */
  readonly waiting: number;
  /** The number of campaign messages within the last 24 hours. `dailyCap` is the limit; 0 for none. */
  readonly sentToday: number;
  readonly dailyCap: number;
  /** The end of the quiet hours. Unix milliseconds; null outside the quiet hours. */
  readonly quietUntil: number | null;
  /** The time of the next message. Unix milliseconds; null if no recipient waits. */
  readonly nextAt: number | null;
}

export interface CampaignFace {
  /**
   * Stores a campaign, whose messages are then sent without further calls. Refuses with `invalid` if no recipient is valid or there are too many.
   * `limited`: too many campaigns. `notSent`: the instance has no account. `conflict`: the key was used with another request.
   */
  createCampaign(id: InstanceId, input: CampaignInput): Promise<Result<CreatedCampaign>>;
  /** Pauses a campaign. A message that is being sent is completed. Refuses with `notFound`, or with `conflict` for a finished campaign. */
  stopCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /**
   * Continues a paused or finished campaign, and retries recipients whose message failed. Refuses with `notFound`, or with `conflict` for a finished
   * campaign without failures.
   */
  continueCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /**
   * Deletes a campaign. All other calls stop seeing the campaign at once, and its rows are deleted in the background. Sent messages stay in their
   * chats.
   */
  deleteCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /** Deletes campaigns that finished at least `doneFor` milliseconds ago, or all if it is null. */
  clearCampaigns(id: InstanceId, doneFor: number | null): Promise<Result<RemovedCampaigns>>;
  /** Returns campaigns, newest first. `done` selects the finished or the unfinished ones; null selects all. */
  campaigns(id: InstanceId, done: boolean | null): Promise<readonly EstimatedCampaign[]>;
  /** Returns recipients of a campaign. Refuses with `notFound` for an unknown campaign. */
  campaignRecipients(
    id: InstanceId,
    query: RecipientQuery,
  ): Promise<Result<{ readonly campaign: Campaign; readonly recipients: readonly RecipientRow[] }>>;
  campaignStats(id: InstanceId): Promise<CampaignStats>;
  /** Returns contacts that opted out of campaigns, newest first. */
  optOuts(id: InstanceId, limit: number, offset: number): Promise<CampaignOptOuts>;
  /** Adds or removes opt-outs and returns the number of changed contacts. Refuses (`invalid`) a number that is not valid. */
  changeOptOuts(id: InstanceId, numbers: readonly string[], optedOut: boolean): Promise<Result<number>>;
}
