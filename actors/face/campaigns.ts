/** What the gateway offers on campaigns. */
import type { Campaign, CampaignSend, CreatedCampaign, EstimatedCampaign, InstanceId, Result } from '../model.ts';
import type { GivenKey } from './messages.ts';
import type { CampaignOptOuts, RecipientQuery, RecipientRow, RemovedCampaigns } from '../ports.ts';

export interface CampaignInput {
  readonly info: string;
  /** Milliseconds between two messages. */
  readonly delayMin: number;
  readonly delayMax: number;
  /** Unix milliseconds; at or before now: at once. */
  readonly scheduledFor: number;
  /** What everybody gets who has no message of its own. */
  readonly shared: CampaignSend | null;
  readonly recipients: readonly { readonly number: string; readonly own: CampaignSend | null }[];
  /** As in `SendOptions`: the same key again gives the first answer and makes no second campaign. */
  readonly once?: GivenKey;
}

/** The pace of an instance, and how much its campaigns have to do. */
export interface CampaignStats {
  readonly campaigns: readonly Campaign[];
  /** Recipients of campaigns that are under way or scheduled. */
  readonly waiting: number;
  /** Messages of campaigns within the last 24 hours, and how many may be; 0: no limit. */
  readonly sentToday: number;
  readonly dailyCap: number;
  /** Until when campaigns rest, in Unix milliseconds; null outside of the quiet hours. */
  readonly quietUntil: number | null;
  /** When the next message may go, in Unix milliseconds; null when nothing waits. */
  readonly nextAt: number | null;
}

export interface CampaignFace {
  /**
   * Stores a campaign; its messages go out by themselves from then on. Refused: `invalid` without a recipient that can be sent to, or beyond the most
   * recipients; `limited` beyond the most campaigns; `notSent` for an instance without an account; `conflict`
   * when the key was used with another request.
   */
  createCampaign(id: InstanceId, input: CampaignInput): Promise<Result<CreatedCampaign>>;
  /** Refused: `notFound`; `conflict` for one that is done. A message that is being sent is finished. */
  stopCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /** Also sends to those of a paused or done campaign whose message failed. Refused: `notFound`; `conflict` for one that is done and failed for nobody. */
  continueCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /** It is gone at once for all other calls; its rows go in the background. Messages that were sent stay in their chats. */
  deleteCampaign(id: InstanceId, campaign: string): Promise<Result<null>>;
  /** `doneFor`: only those that have been done for so many milliseconds; null: all of them. */
  clearCampaigns(id: InstanceId, doneFor: number | null): Promise<Result<RemovedCampaigns>>;
  /** Newest first. `done`: only those that are, or only the others; null: all. */
  campaigns(id: InstanceId, done: boolean | null): Promise<readonly EstimatedCampaign[]>;
  /** Refused with `notFound` for an unknown campaign. */
  campaignRecipients(
    id: InstanceId,
    query: RecipientQuery,
  ): Promise<Result<{ readonly campaign: Campaign; readonly recipients: readonly RecipientRow[] }>>;
  campaignStats(id: InstanceId): Promise<CampaignStats>;
  /** Contacts that get no campaigns, newest first. */
  optOuts(id: InstanceId, limit: number, offset: number): Promise<CampaignOptOuts>;
  /** Answers how many contacts changed. Refused (`invalid`) for a number that names no contact. */
  changeOptOuts(id: InstanceId, numbers: readonly string[], optedOut: boolean): Promise<Result<number>>;
}
