/** The API representation of campaigns: folders, their messages, and the `sender` event. */
import { Type } from 'typebox';
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
import { fieldsOf } from './fields.ts';
import { messageView } from './message.ts';
import { timeText } from './formats.ts';

/** Returns the status of a campaign. A campaign that waits for a later time is scheduled. A campaign whose start time is reached is queued. */
const statusOf = ({ status, scheduledFor }: Campaign, now: number): string => {
  if (status !== 'waiting') return status;
  return scheduledFor > now ? 'scheduled' : 'queued';
};

const ended = ({ failed, skipped, unknown }: Campaign): number => failed + skipped + unknown;

/** Returns whole seconds, rounded up; null if the time is not known. */
const secondsOf = (ms: number | null): number | null => (ms === null ? null : Math.ceil(ms / 1000));

interface Folder {
  readonly campaign: EstimatedCampaign;
  readonly owner: string;
  /** The time of the view, in Unix milliseconds. */
  readonly now: number;
}

const text = Type.String();
const seconds = Type.Integer({ description: 'Seconds' });
const reached = Type.Integer({ description: 'Messages with this status or a later one' });
const count = (description: string) => Type.Integer({ description });

/** The fields of a campaign. The interface spells the name `log_sucess` in this way. */
const folder = fieldsOf<Folder>()({
  id: [text, ({ campaign }) => campaign.id],
  info: [Type.String({ description: 'As given' }), ({ campaign }) => campaign.info],
  status: [
    Type.String({ description: '`scheduled`, `queued` (its time has come), `sending`, `paused` or `done`', examples: ['sending'] }),
    ({ campaign, now }) => statusOf(campaign, now),
  ],
  reason: [Type.String({ description: 'Reason of an automatic stop or of a pause' }), ({ campaign }) => campaign.reason],
  remaining_seconds: [
    Type.Union([Type.Integer(), Type.Null()], {
      description: 'An estimate of the time until the last message leaves; null while it is paused',
    }),
    ({ campaign }) => secondsOf(campaign.remainingMs),
  ],
  scheduled_for: [count('Unix milliseconds'), ({ campaign }) => campaign.scheduledFor],
  delayMin: [seconds, ({ campaign }) => Math.round(campaign.delayMin / 1000)],
  delayMax: [seconds, ({ campaign }) => Math.round(campaign.delayMax / 1000)],
  log_total: [count('Messages'), ({ campaign }) => campaign.total],
  log_sucess: [count('Messages that the platform took'), ({ campaign }) => campaign.sent],
  log_failed: [count('Messages that failed, or whose outcome is unknown'), ({ campaign }) => ended(campaign)],
  log_skipped: [count('Failed messages to contacts who opted out of campaigns'), ({ campaign }) => campaign.skipped],
  log_unknown: [count('Failed messages that may have arrived; they are not sent again'), ({ campaign }) => campaign.unknown],
  log_delivered: [reached, ({ campaign }) => campaign.delivered],
  log_read: [reached, ({ campaign }) => campaign.read],
  log_played: [reached, ({ campaign }) => campaign.played],
  owner: [text, ({ owner }) => owner],
  created: [text, ({ campaign }) => timeText(campaign.created)],
  updated: [text, ({ campaign }) => timeText(campaign.updated)],
  started: [text, ({ campaign }) => timeText(campaign.startedAt || null)],
  finished: [text, ({ campaign }) => timeText(campaign.finishedAt || null)],
});

export const folderFields = folder.schemas;

/** Makes the view of a campaign. `now`: Unix milliseconds. */
export const folderView = (campaign: EstimatedCampaign, owner: string, now: number) => folder.view({ campaign, owner, now });

/** Makes the body of the `sender` event, apart from the envelope. */
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

/** The status of a recipient's message. If a sent message is stored, the view shows the status of the stored message instead. */
const recipientStatuses: Readonly<Record<RecipientState, string>> = {
  waiting: 'Scheduled',
  sending: 'Queued',
  sent: 'Sent',
  failed: 'Failed',
  skipped: 'Skipped',
  unknown: 'Unknown',
};

interface CampaignMessage extends CampaignRecipient {
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

/** Makes a message from the known facts of a recipient whose message is not composed yet. */
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

/** Makes the view of a recipient in the form of the planned or sent message. */
export const campaignRecipientView = (campaignId: string, row: CampaignMessage, owner: string, now: number) => {
  const { state, error, message } = row;
  const hasMessageStatus = message !== null && state === 'sent';
  return {
    ...messageView(message ?? plannedMessage(campaignId, row), owner, now),
    status: hasMessageStatus ? message.status : recipientStatuses[state],
    error: hasMessageStatus ? message.error : error,
  };
};

export const optOutView = ({ chatId, at, by }: OptOut) => ({ chatid: chatId, by, created: timeText(at) });
