/** Campaigns: one or more messages for a list of recipients, sent one by one at a slow pace. The interface calls a campaign a folder. */
import type { Preparation, Send } from './send.ts';

/**
 * States of a campaign. `waiting`: the gateway has not begun to send its messages. `sending`: the gateway has begun. `paused`: an API call or the gateway
 * itself paused the campaign. `deleting`: the interface hides the campaign while its rows are removed.
 */
const campaignStatuses = ['waiting', 'sending', 'paused', 'done', 'deleting'] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/**
 * States of a recipient. `sending`: the message is stored, and its frame may have left. `unknown`: the frame may have left, but no answer came, and the
 * gateway does not retry. `skipped`: the contact opted out of campaigns.
 */
const recipientStates = ['waiting', 'sending', 'sent', 'failed', 'skipped', 'unknown'] as const;
export type RecipientState = (typeof recipientStates)[number];

/** A message of a campaign without its recipient. The message is stored in this form until it is sent. */
export interface CampaignSend extends Preparation, Pick<Send, 'content' | 'mentions' | 'forward' | 'replyTo'> {
  readonly trackSource: string;
  readonly trackId: string;
  /** The name of the operation that the client called. Returned as `sendFunction`. */
  readonly label: string;
  readonly payload: unknown;
}

/** Removes punctuation from a number as the client wrote it. Of an id (with `@`), only the spaces around it are removed. */
export const plainNumber = (written: string): string => (written.includes('@') ? written.trim() : written.replaceAll(/[+\s().-]/g, ''));

/** Returns the `payload` of the message to one recipient. The number is added, so the payload equals that of a single send. */
export const payloadTo = ({ payload }: Pick<CampaignSend, 'payload'>, number: string): unknown =>
  payload !== null && typeof payload === 'object' ? { ...payload, number } : payload;

/** The number of recipients by outcome, and the number of their messages by receipt state. */
interface CampaignCounts {
  readonly sent: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
  /** `delivered`, `read` and `played`: the number of sent messages that reached at least this receipt state. */
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
}

/** A campaign with its settings and progress. A time that has not come is 0. Times in Unix milliseconds. */
export interface Campaign extends CampaignCounts {
  readonly id: string;
  /** The name or remark that the client gave the campaign. */
  readonly info: string;
  readonly status: CampaignStatus;
  /** The reason why the gateway paused the campaign, or why the campaign waits now; '' otherwise. */
  readonly reason: string;
  readonly scheduledFor: number;
  /** The shortest pause between two messages. In milliseconds. */
  readonly delayMin: number;
  readonly delayMax: number;
  readonly total: number;
  readonly created: number;
  readonly updated: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** The answer to the caller that created a campaign. */
export interface CreatedCampaign {
  readonly id: string;
  /** The number of recipients after the removal of duplicates. */
  readonly count: number;
  /** The number of given recipients that were dropped, because the same recipient and message came earlier in the list. */
  readonly duplicates: number;
  /** The number of recipients that no message can be sent to. Each has an error. */
  readonly failed: number;
  /** An estimate of the time until the last message leaves; absent in answers that an older release stored. In milliseconds. */
  readonly remainingMs?: number;
}

/** A campaign with an estimate of the time until its last message leaves; null while the campaign is paused. In milliseconds. */
export interface EstimatedCampaign extends Campaign {
  readonly remainingMs: number | null;
}

export interface CampaignRecipient {
  /** The index in the order of sending, from 0. */
  readonly position: number;
  /** The number as the client wrote it. */
  readonly number: string;
  /** The chat that the number names; '' if the number is not valid. */
  readonly chatId: string;
  readonly state: RecipientState;
  /** The reason why the message failed or was not sent. */
  readonly error: string;
  /** The platform's id of the message; '' before there is one. */
  readonly messageId: string;
  /** The time of the last change; 0 while the recipient waits. In Unix milliseconds. */
  readonly at: number;
}

/** A new state of a recipient. */
export interface RecipientChange {
  readonly campaignId: string;
  readonly position: number;
  readonly state: RecipientState;
  readonly error: string;
  /** The message id, for state `sending` only. */
  readonly messageId: string;
  readonly at: number;
}

/** A change of a campaign. `delivered`, `read` and `played` are increments. A status applies only while the campaign is active. */
export interface CampaignChange {
  readonly campaignId: string;
  /** The new status; '' keeps the current one. */
  readonly status: CampaignStatus | '';
  readonly reason: string;
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
  readonly at: number;
}

/** A contact that opted out of campaigns. */
export interface OptOut {
  readonly chatId: string;
  /** The time of the opt-out. In Unix milliseconds. */
  readonly at: number;
  /** The origin of the opt-out: a call of the API, or a message of the contact. */
  readonly by: 'api' | 'contact';
}
