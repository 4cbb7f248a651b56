/** Campaigns as the interface spells them: folders, their messages, and the `sender` event. */
import {
  emptyMessage,
  payloadTo,
  type Campaign,
  type CampaignRecipient,
  type CampaignSend,
  type EstimatedCampaign,
  type Message,
  type OptOut,
  type RecipientState,
} from '#actors/model.ts';
import { messageView } from './message.ts';
import { timeText } from './formats.ts';

/** One that waits for a later time is scheduled; one whose time has come waits for its turn. */
const statusOf = ({ status, scheduledFor }: Campaign, now: number): string => {
  if (status !== 'waiting') return status;
  return scheduledFor > now ? 'scheduled' : 'queued';
};

const ended = ({ failed, skipped, unknown }: Campaign): number => failed + skipped + unknown;

/** Whole seconds, rounded up; null where nothing is known. */
const secondsOf = (ms: number | null): number | null => (ms === null ? null : Math.ceil(ms / 1000));

/** `log_sucess` is spelled as in the interface. What failed counts everybody who was not sent to; the fields after it tell them apart. `now`: Unix milliseconds. */
export const folderView = (campaign: EstimatedCampaign, owner: string, now: number) => ({
  id: campaign.id,
  info: campaign.info,
  status: statusOf(campaign, now),
  reason: campaign.reason,
  remaining_seconds: secondsOf(campaign.remainingMs),
  scheduled_for: campaign.scheduledFor,
  delayMin: Math.round(campaign.delayMin / 1000),
  delayMax: Math.round(campaign.delayMax / 1000),
  log_total: campaign.total,
  log_sucess: campaign.sent,
  log_failed: ended(campaign),
  log_skipped: campaign.skipped,
  log_unknown: campaign.unknown,
  log_delivered: campaign.delivered,
  log_read: campaign.read,
  log_played: campaign.played,
  owner,
  created: timeText(campaign.created),
  updated: timeText(campaign.updated),
  started: timeText(campaign.startedAt || null),
  finished: timeText(campaign.finishedAt || null),
});

/** The event's own keys. */
export const campaignEventView = (campaign: Campaign) => ({
  folder_id: campaign.id,
  info: campaign.info,
  status: campaign.status === 'waiting' ? 'queued' : campaign.status,
  ...(campaign.reason === '' ? {} : { reason: campaign.reason }),
  messageCount: campaign.total,
  sentCount: campaign.sent,
  failedCount: ended(campaign),
  skippedCount: campaign.skipped,
  unknownCount: campaign.unknown,
  scheduled_for: campaign.scheduledFor,
});

/** The status of a recipient's message. Where the message is stored, what the platform told of it since counts. */
const recipientStatuses: Readonly<Record<RecipientState, string>> = {
  waiting: 'Scheduled',
  sending: 'Queued',
  sent: 'Sent',
  failed: 'Failed',
  skipped: 'Skipped',
  unknown: 'Unknown',
};

export interface CampaignMessage extends CampaignRecipient {
  readonly message: Message | null;
  readonly send: CampaignSend;
}

const textOf = ({ content }: CampaignSend): string => {
  const {
    text = '',
    caption = '',
    question = '',
  } = content as { readonly text?: string; readonly caption?: string; readonly question?: string };
  return text || caption || question;
};

/** A message that is not composed yet: what is known of it. */
const plannedMessage = (campaignId: string, { position, chatId, number, send, at }: CampaignMessage): Message => ({
  ...emptyMessage,
  id: '',
  messageId: '',
  chatId: chatId === '' ? number : chatId,
  chatLid: '',
  sender: '',
  senderPn: '',
  senderLid: '',
  isGroup: chatId.endsWith('@g.us'),
  fromMe: true,
  wasSentByApi: true,
  messageType: '',
  type: '',
  timestamp: at,
  text: textOf(send),
  content: null,
  sendFunction: send.label,
  sendPayload: payloadTo(send, number),
  trackSource: send.trackSource,
  trackId: send.trackId,
  sendFolderId: campaignId,
  sendPosition: position,
});

/** A recipient as the message that it gets, or got. */
export const campaignRecipientView = (campaignId: string, row: CampaignMessage, owner: string, now: number) => {
  const { state, error, message } = row;
  const isFurther = message !== null && state === 'sent';
  return {
    ...messageView(message ?? plannedMessage(campaignId, row), owner, now),
    status: isFurther ? message.status : recipientStatuses[state],
    error: isFurther ? message.error : error,
  };
};

export const optOutView = ({ chatId, at, by }: OptOut) => ({ chatid: chatId, by, created: timeText(at) });
