/** Lists and controls campaigns; `messages.ts` creates them. */
import { done, type RecipientState } from '#actors/gateway.ts';
import { campaignRecipientView, folderView, optOutView } from '#src/contract/views.ts';
import type { HttpOptions } from '../../options.ts';
import { mapResult, type Route, route } from '../../route.ts';
import {
  CampaignStatsAnswer,
  ClearAllAnswer,
  ClearDoneAnswer,
  ClearDoneBody,
  EditFolderAnswer,
  EditFolderBody,
  FoldersAnswer,
  FoldersQuery,
  ListRecipientsBody,
  OptOutAnswer,
  OptOutBody,
  OptOutsAnswer,
  OptOutsQuery,
  recipientPage,
  RecipientsAnswer,
} from '../../schemas/campaign.ts';
import { bodyLimitOf } from '../send/media.ts';
import type { SendRoute } from '../send/row.ts';
import { campaignMessages, creationRows, listedNumbers } from './messages.ts';

const common = { credential: 'instance', tag: 'sender' } as const;
const unknownFolder = { notFound: { example: 'Folder not found' } } as const;
const noFolder = { 'folder_id:required': 'folder_id is required', 'folder_id:type': 'folder_id is required' } as const;

/** One row per action: the call and the answer. */
const actions = {
  stop: { call: 'stopCampaign', answer: { status: 'paused' } },
  continue: { call: 'continueCampaign', answer: { status: 'scheduled', message: 'Folder resumed successfully' } },
  delete: { call: 'deleteCampaign', answer: { status: 'deleting', message: 'Folder deletion has been initiated' } },
} as const;

/** For each message status of the interface, the message states that it covers, and the function that returns the number of these messages. */
const shown = {
  Scheduled: {
    states: ['waiting', 'sending'],
    count: ({ total, sent, failed, skipped, unknown }) => total - sent - failed - skipped - unknown,
  },
  Sent: { states: ['sent'], count: ({ sent }) => sent },
  Failed: { states: ['failed', 'skipped', 'unknown'], count: ({ failed, skipped, unknown }) => failed + skipped + unknown },
  Skipped: { states: ['skipped'], count: ({ skipped }) => skipped },
  Unknown: { states: ['unknown'], count: ({ unknown }) => unknown },
} as const satisfies Readonly<
  Record<string, { readonly states: readonly RecipientState[]; readonly count: (campaign: Counted) => number }>
>;

type Counted = Readonly<Record<'total' | 'sent' | 'failed' | 'skipped' | 'unknown', number>>;

const steeringRows: readonly Route[] = [
  route({
    ...common,
    on: ['POST /sender/edit'],
    operationId: 'editCampaign',
    summary: 'Stop, continue or delete a campaign. A message that is just being sent is finished',
    body: EditFolderBody,
    examples: { body: { folder_id: 'r1a2b3c4d5e6f70', action: 'stop' } },
    answer: EditFolderAnswer,
    invalidTexts: noFolder,
    refusals: { ...unknownFolder, conflict: { example: 'the folder is done' } },
    run: async ({ gateway, id, body: { folder_id: folder, action } }) => {
      const { call, answer } = actions[action];
      return mapResult(await gateway[call](id, folder), () => answer);
    },
  }),
  route({
    ...common,
    on: ['POST /sender/cleardone'],
    operationId: 'clearDoneCampaigns',
    summary: 'Remove campaigns that ended some time ago, in the background; messages that were sent stay in their chats',
    body: ClearDoneBody,
    answer: ClearDoneAnswer,
    refusals: { notFound: {} },
    run: async ({ gateway, id, body: { hours = 168 } }) =>
      mapResult(await gateway.clearCampaigns(id, hours * 3_600_000), () => ({ status: 'cleanup started' })),
  }),
  route({
    ...common,
    on: ['DELETE /sender/clearall'],
    operationId: 'clearAllCampaigns',
    summary: 'Remove all campaigns, also those under way; messages that were sent stay in their chats',
    answer: ClearAllAnswer,
    refusals: { notFound: {} },
    run: async ({ gateway, id }) =>
      mapResult(await gateway.clearCampaigns(id, null), ({ campaigns, recipients }) => ({
        status: 'processed',
        messages_deleted: recipients,
        folders_deleted: campaigns,
      })),
  }),
];

const listRows: readonly Route[] = [
  route({
    ...common,
    on: ['GET /sender/listfolders'],
    operationId: 'listCampaigns',
    summary: 'List campaigns, newest first, at most 1000',
    query: FoldersQuery,
    answer: FoldersAnswer,
    failure: { text: 'Failed to fetch batches: database error' },
    run: async ({ gateway, id, query: { status }, now }) => {
      const owner = gateway.view(id)?.record.owner ?? '';
      const campaigns = await gateway.campaigns(id, status === undefined ? null : status === 'Archived');
      return done(campaigns.map((campaign) => folderView(campaign, owner, now)));
    },
  }),
  route({
    ...common,
    on: ['POST /sender/listmessages'],
    operationId: 'listCampaignMessages',
    summary: 'List the messages of a campaign in the order of sending, with the outcome of each',
    body: ListRecipientsBody,
    examples: { body: { folder_id: 'r1a2b3c4d5e6f70', messageStatus: 'Sent', limit: 10 } },
    answer: RecipientsAnswer,
    invalidTexts: noFolder,
    failure: { text: 'Failed to fetch messages' },
    refusals: unknownFolder,
    run: async ({ gateway, id, body, now }) => {
      const { folder_id: campaignId, messageStatus, limit = recipientPage.most, offset = 0 } = body;
      const filter = messageStatus === undefined ? null : shown[messageStatus];
      const owner = gateway.view(id)?.record.owner ?? '';
      const found = await gateway.campaignRecipients(id, { campaignId, states: filter?.states ?? null, limit, offset });
      return mapResult(found, ({ campaign, recipients }) => ({
        messages: recipients.map((one) => campaignRecipientView(campaignId, one, owner, now)),
        pagination: { totalRecords: filter?.count(campaign) ?? campaign.total, limit, offset },
      }));
    },
  }),
];

const sumOf = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((sum, one) => sum + of(one), 0);

const statsRow = route({
  ...common,
  on: ['GET /sender/stats'],
  operationId: 'getCampaignStats',
  summary: 'Count the campaigns and their messages, with the pace: the messages of the last 24 hours, and the time of the next one',
  answer: CampaignStatsAnswer,
  run: async ({ gateway, id, now }) => {
    const { campaigns, waiting: _open, sentToday, dailyCap, quietUntil, nextAt } = await gateway.campaignStats(id);
    const views = campaigns.map((campaign) => folderView({ ...campaign, remainingMs: null }, '', now).status);
    const folders = (status: string): number => views.filter((one) => one === status).length;
    const messages = (of: 'total' | 'sent' | 'failed' | 'skipped' | 'unknown' | 'delivered' | 'read' | 'played'): number =>
      sumOf(campaigns, (campaign) => campaign[of]);
    return done({
      folders: {
        total: campaigns.length,
        scheduled: folders('scheduled'),
        queued: folders('queued'),
        sending: folders('sending'),
        paused: folders('paused'),
        done: folders('done'),
      },
      messages: {
        total: messages('total'),
        scheduled: sumOf(campaigns, shown.Scheduled.count),
        sent: messages('sent'),
        failed: messages('failed'),
        skipped: messages('skipped'),
        unknown: messages('unknown'),
        delivered: messages('delivered'),
        read: messages('read'),
        played: messages('played'),
      },
      pace: { sentLast24h: sentToday, dailyCap, quietUntil, nextAt },
    });
  },
});

const optOutRows: readonly Route[] = [
  route({
    ...common,
    on: ['GET /sender/optout'],
    operationId: 'listOptOuts',
    summary: 'List the contacts that get no campaigns, newest first',
    query: OptOutsQuery,
    answer: OptOutsAnswer,
    run: async ({ gateway, id, query: { limit = 100, offset = 0 } }) => {
      const { optOuts, total } = await gateway.optOuts(id, limit, offset);
      return done({ contacts: optOuts.map(optOutView), pagination: { totalRecords: total, limit, offset } });
    },
  }),
  route({
    ...common,
    on: ['POST /sender/optout'],
    operationId: 'changeOptOuts',
    summary: 'Leave contacts out of all campaigns, or let them get campaigns again',
    relevantFields: listedNumbers,
    body: OptOutBody,
    examples: { body: { numbers: ['5511999999999'], optedOut: true } },
    answer: OptOutAnswer,
    refusals: { notFound: {} },
    run: async ({ gateway, id, body: { numbers, optedOut = true } }) =>
      mapResult(await gateway.changeOptOuts(id, numbers.map(String), optedOut), (changed) => ({ changed })),
  }),
];

export const senderRoutes = (sends: readonly SendRoute[], { mediaBytes }: Pick<HttpOptions, 'mediaBytes'>): readonly Route[] => {
  const messages = campaignMessages(sends);
  const bodyLimit = bodyLimitOf(mediaBytes);
  return [...creationRows(messages, bodyLimit), ...steeringRows, ...listRows, statsRow, ...optOutRows];
};
