/** Commands of the gateway in memory on campaigns. */
import { type Campaign, type CampaignMethods, done } from '#actors/gateway.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { message, now } from '#test/contract/samples.ts';
import type { Attempt } from './definitions.ts';

export const campaign: Campaign = {
  id: 'r1a2b3c4d5e6f70',
  info: 'January',
  status: 'sending',
  reason: '',
  scheduledFor: now,
  delayMin: 10_000,
  delayMax: 30_000,
  total: 5,
  sent: 1,
  failed: 1,
  skipped: 1,
  unknown: 1,
  delivered: 1,
  read: 1,
  played: 0,
  created: now,
  updated: now,
  startedAt: now,
  finishedAt: 0,
};

const send = { ...campaignSend, content: { kind: 'text', text: 'Hello', preview: null } } as const;

const recipient = { position: 0, number: '5511999999999', chatId: message.chatId, error: '', messageId: message.messageId, at: now, send };

export const campaignCommands = (attempt: Attempt): CampaignMethods => {
  const nothing = () => attempt(() => done(null));
  return {
    createCampaign: (_id, { recipients }) => attempt(() => done({ id: campaign.id, count: recipients.length, duplicates: 0, failed: 0 })),
    stopCampaign: nothing,
    continueCampaign: nothing,
    deleteCampaign: nothing,
    clearCampaigns: () => attempt(() => done({ campaigns: 1, recipients: 5 })),
    async campaigns() {
      await nothing();
      return [{ ...campaign, remainingMs: 20_000 }];
    },
    campaignRecipients: () =>
      attempt(() =>
        done({
          campaign,
          recipients: [
            { ...recipient, state: 'sent', message },
            { ...recipient, state: 'waiting', message: null },
          ],
        }),
      ),
    async campaignStats() {
      await nothing();
      return { campaigns: [campaign], waiting: 1, sentToday: 1, dailyCap: 1_000, quietUntil: null, nextAt: now };
    },
    async optOuts() {
      await nothing();
      return { optOuts: [{ chatId: message.chatId, at: now, by: 'api' }], total: 1 };
    },
    changeOptOuts: (_id, numbers) => attempt(() => done(numbers.length)),
  };
};
