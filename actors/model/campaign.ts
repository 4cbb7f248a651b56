/** Campaigns: one message, or many, for a list of recipients, sent one by one at a careful pace. The interface calls a campaign a folder. */
import type { Preparation, Send } from './send.ts';

/**
 * `waiting`: for its time, or its first turn; `sending`: its first turn has come; `paused`: stopped, by a call or by itself; `deleting`: gone for the
 * interface, while its rows are removed.
 */
export const campaignStatuses = ['waiting', 'sending', 'paused', 'done', 'deleting'] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/**
 * What became of a recipient. `sending`: its message is stored, and its frame may have left; `unknown`: it may have left, and nobody answered, so that it
 * is not sent again; `skipped`: the contact asked to get no campaigns.
 */
export const recipientStates = ['waiting', 'sending', 'sent', 'failed', 'skipped', 'unknown'] as const;
export type RecipientState = (typeof recipientStates)[number];

/** A message of a campaign without its recipient, as it is stored until its turn. */
export interface CampaignSend extends Preparation, Pick<Send, 'content' | 'mentions' | 'forward' | 'replyTo'> {
  readonly trackSource: string;
  readonly trackId: string;
  /** As in `SendOptions`. */
  readonly label: string;
  readonly payload: unknown;
}

/** Numbers as people write them; ids stay as they are. */
export const plainNumber = (written: string): string => (written.includes('@') ? written.trim() : written.replaceAll(/[+\s().-]/g, ''));

/** The `payload` of one recipient's message: as it would stand in a send to this number alone. */
export const payloadTo = ({ payload }: Pick<CampaignSend, 'payload'>, number: string): unknown =>
  payload !== null && typeof payload === 'object' ? { ...payload, number } : payload;

/** How many recipients ended so. */
export interface CampaignCounts {
  readonly sent: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
  /** Of those that were sent, at least so far. */
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
}

/** Times in Unix milliseconds, 0 for what has not happened. */
export interface Campaign extends CampaignCounts {
  readonly id: string;
  /** The client's own name or remark. */
  readonly info: string;
  readonly status: CampaignStatus;
  /** Why it stopped by itself, or rests now; '' otherwise. */
  readonly reason: string;
  readonly scheduledFor: number;
  /** Milliseconds between two messages. */
  readonly delayMin: number;
  readonly delayMax: number;
  readonly total: number;
  readonly created: number;
  readonly updated: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** What the caller who made a campaign is answered. */
export interface CreatedCampaign {
  readonly id: string;
  /** Recipients, without duplicates. */
  readonly count: number;
  /** Recipients that were given more than once with the same message. */
  readonly duplicates: number;
  /** Recipients among them that no message can be sent to; each says why. */
  readonly failed: number;
  /** An estimate in milliseconds; absent in answers that an older release stored. */
  readonly remainingMs?: number;
}

/** `remainingMs`: an estimate until its last message leaves; null while it is paused. */
export interface EstimatedCampaign extends Campaign {
  readonly remainingMs: number | null;
}

export interface CampaignRecipient {
  /** Counts from 0, in the order in which messages are sent. */
  readonly position: number;
  /** As the client wrote it. */
  readonly number: string;
  /** The chat that the number names; '' for one that names none. */
  readonly chatId: string;
  readonly state: RecipientState;
  /** Why it failed, or was not sent. */
  readonly error: string;
  /** The platform's id of its message; '' until there is one. */
  readonly messageId: string;
  /** Of its last change, in Unix milliseconds; 0 while it waits. */
  readonly at: number;
}

/** What a recipient's state is from now on. */
export interface RecipientChange {
  readonly campaignId: string;
  readonly position: number;
  readonly state: RecipientState;
  readonly error: string;
  /** Of `sending` only. */
  readonly messageId: string;
  readonly at: number;
}

/** What a campaign is from now on; `delivered`, `read` and `played` are added. A status counts only while the campaign is active. */
export interface CampaignChange {
  readonly campaignId: string;
  /** '' when it stays. */
  readonly status: CampaignStatus | '';
  readonly reason: string;
  readonly delivered: number;
  readonly read: number;
  readonly played: number;
  readonly at: number;
}

/** A contact that gets no campaigns. */
export interface OptOut {
  readonly chatId: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** By a call, or by the contact's own word. */
  readonly by: 'api' | 'contact';
}
