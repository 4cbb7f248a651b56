/** The tables of campaigns. */
import { defineEntity, p } from '@mikro-orm/core';
import type { CampaignSend } from '#actors/model.ts';
import { time } from './instance.ts';

const count = () => p.integer().default(0);

/** Counts are kept by what changes recipients. */
export const CampaignEntity = defineEntity({
  name: 'Campaign',
  tableName: 'campaign',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    info: p.text(),
    status: p.text(),
    reason: p.text().default(''),
    /** Null when every recipient has a message of its own. */
    shared: p.json<CampaignSend>().nullable(),
    scheduledFor: time(),
    delayMin: p.integer(),
    delayMax: p.integer(),
    total: p.integer(),
    sent: count(),
    failed: count(),
    skipped: count(),
    unknown: count(),
    delivered: count(),
    read: count(),
    played: count(),
    /** No recipient before this position waits. */
    next: count(),
    created: time(),
    updated: time(),
    startedAt: time().default(0),
    finishedAt: time().default(0),
  },
  indexes: [
    {
      name: 'campaign_active',
      expression: `create index "campaign_active" on "campaign" ("instance_id") where status in ('waiting', 'sending')`,
    },
    { name: 'campaign_paused', expression: `create index "campaign_paused" on "campaign" ("updated") where status = 'paused'` },
    { name: 'campaign_done', expression: `create index "campaign_done" on "campaign" ("finished_at") where status = 'done'` },
    {
      name: 'campaign_deleting',
      expression: `create index "campaign_deleting" on "campaign" ("instance_id", "id") where status = 'deleting'`,
    },
  ],
});

/** Messages that are still to be sent are in no other table; one that is sent stands among the messages, and its recipient names it. */
export const CampaignRecipientEntity = defineEntity({
  name: 'CampaignRecipient',
  tableName: 'campaign_recipient',
  properties: {
    instanceId: p.text().primary(),
    campaignId: p.text().primary(),
    position: p.integer().primary(),
    number: p.text(),
    chatId: p.text(),
    state: p.text(),
    error: p.text(),
    messageId: p.text().default(''),
    at: time().default(0),
    own: p.json<CampaignSend>().nullable(),
  },
  indexes: [
    { name: 'campaign_recipient_by_state', properties: ['instanceId', 'campaignId', 'state', 'position'] },
    {
      name: 'campaign_recipient_sending',
      expression: `create index "campaign_recipient_sending" on "campaign_recipient" ("instance_id") where state = 'sending'`,
    },
  ],
});

/** Contacts that get no campaigns. */
export const OptOutEntity = defineEntity({
  name: 'OptOut',
  tableName: 'opt_out',
  properties: { instanceId: p.text().primary(), chatId: p.text().primary(), at: time(), source: p.text() },
  indexes: [{ name: 'opt_out_by_time', properties: ['instanceId', 'at', 'chatId'] }],
});
