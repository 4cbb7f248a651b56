/** Stores campaigns: creates and lists them, and finds the next due message. The journal writes the progress of recipients. */
import type { Campaign, CampaignSend, CampaignStatus, InstanceId, Message, OptOut } from '#actors/model.ts';
import type { CampaignStore, DueMessage, NewRecipient, OptOutStore, RecipientRow, RemovedCampaigns } from '#actors/ports.ts';
import { countedCampaigns } from '../journal/campaigns.ts';
import { shownMessageFields } from '../journal/columns.ts';
import { changeOwned, checkOwned, owned, type Owned, whileOwned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { jsonText } from '../postgres/parameters.ts';
import { expireRows } from './expiry.ts';
import { chatNames, sameChatIds } from './chats.ts';
import { putSendKey } from './messages.ts';

const times = ['scheduled_for', 'created', 'updated', 'started_at', 'finished_at'].map(
  (column) => `campaign.${column}::float8 as "${column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}"`,
);
const campaignFields = `campaign.id, info, status, reason, delay_min as "delayMin", delay_max as "delayMax", total, sent, failed, skipped, unknown,
    delivered, read, played, ${times.join(', ')}`;

export const isActive = `status in ('waiting', 'sending')`;

export const campaignStatements = {
  insert: whileOwned(
    'campaign-insert',
    `insert into campaign (instance_id, id, info, status, shared, scheduled_for, delay_min, delay_max, total, failed, created, updated)
     select $1, $3, $4, 'waiting', $5::jsonb, $6, $7, $8, $9, $10, $11, $11 from owned returning 1`,
  ),
  /**
   * $1: instance. $2: campaign. $3: first position. $4: numbers. $5: chats. $6: states. $7: errors. $8: own messages of recipients; null for the shared
   * message.
   */
  recipients: {
    name: 'campaign-recipients',
    text: `insert into campaign_recipient (instance_id, campaign_id, position, number, chat_id, state, error, own)
      select $1, $2, $3 + place - 1, number, chat_id, state, error, own::jsonb
      from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) with ordinality as fresh (number, chat_id, state, error, own, place)`,
  },
  /** $2: limit. $3: true for finished campaigns, false for unfinished campaigns, null for all. */
  list: {
    name: 'campaign-list',
    text: `select ${campaignFields} from campaign where instance_id = $1 and status <> 'deleting' and ($3::boolean is null or (status = 'done') = $3)
      order by created desc, id desc limit $2`,
  },
  get: { name: 'campaign-get', text: `select ${campaignFields} from campaign where instance_id = $1 and id = $2 and status <> 'deleting'` },
  active: {
    name: 'campaign-active',
    text: `select count(*)::int as campaigns, coalesce(sum(total - sent - failed - skipped - unknown), 0)::int as waiting
      from campaign where instance_id = $1 and ${isActive}`,
  },
  /** $2: the current time. $3: ids of campaigns that are left out. Several due campaigns take turns: the one whose last change is oldest comes first. */
  next: {
    name: 'campaign-next',
    text: `select ${campaignFields}, recipient.position, recipient.number, coalesce(recipient.own, campaign.shared) as send
      from campaign left join lateral (
        select position, number, own from campaign_recipient as one
        where one.instance_id = $1 and one.campaign_id = campaign.id and one.state = 'waiting' and one.position >= campaign.next
        order by one.position limit 1) as recipient on true
      where campaign.instance_id = $1 and ${isActive} and campaign.id <> all ($3::text[])
      order by campaign.scheduled_for > $2, case when campaign.scheduled_for > $2 then campaign.scheduled_for else campaign.updated end, campaign.id
      limit 1`,
  },
  working: { name: 'campaign-working', text: `select distinct instance_id as id from campaign where ${isActive}` },
  /** Settles recipients whose messages were being sent when the previous process ended. $3: the current time. */
  settle: {
    name: 'campaign-settle',
    text: `with ${owned},
      recipients as (
        update campaign_recipient as one set at = $3,
          state = case when left_off.sent then 'sent' else 'unknown' end,
          error = case when left_off.sent then '' else 'the gateway was interrupted while it was sent: whether it arrived is not known' end
        from (
          select recipient.campaign_id, recipient.position,
            exists (select from message where message.instance_id = $1 and message.message_id = recipient.message_id
              and message.status in ('Sent', 'Delivered', 'Read', 'Played')) as sent
          from campaign_recipient as recipient where recipient.instance_id = $1 and recipient.state = 'sending') as left_off
        where one.instance_id = $1 and one.campaign_id = left_off.campaign_id and one.position = left_off.position and exists (select from owned)
        returning one.campaign_id, one.position, one.state, 'sending' as was, one.at),
      ${countedCampaigns({ recipients: 'recipients' })}
      select count(*)::int as owned from owned`,
  },
  /** Reads the time of one campaign message. $2: the beginning of the period. $3: the number of newer messages to skip. */
  nthSent: {
    name: 'campaign-nth-sent',
    text: `select timestamp::float8 as at from message
      where instance_id = $1 and send_folder_id <> '' and message.timestamp > $2 order by message.timestamp desc offset $3 limit 1`,
  },
  sentSince: {
    name: 'campaign-sent-since',
    text: `select count(*)::int as count from message where instance_id = $1 and send_folder_id <> '' and message.timestamp > $2`,
  },
  /** Changes the status. Returns the status before the change. The row is locked before its status is read, so no other change can come in between. */
  change: {
    name: 'campaign-change',
    text: `with ${owned},
      found as materialized (
        select id, status from campaign where instance_id = $1 and id = $3 and status <> 'deleting' and exists (select from owned) for update),
      changed as (
        update campaign set status = $5, reason = '', updated = greatest(updated, $6::bigint),
          finished_at = case when $5 = 'waiting' then 0 else finished_at end
        from found
        where campaign.instance_id = $1 and campaign.id = found.id and found.status = any($4::text[]))
      select (select count(*)::int from owned) as owned, (select status from found) as status`,
  },
  /** $3: campaign. $4: the current time. $5: the largest number of recipients. */
  retry: {
    name: 'campaign-retry',
    text: `with ${owned},
      found as materialized (
        select id from campaign where instance_id = $1 and id = $3 and status in ('paused', 'done') and exists (select from owned) for update),
      recipients as (
        update campaign_recipient as one set state = 'waiting', error = '', message_id = '', at = 0
        from found where one.instance_id = $1 and one.campaign_id = $3 and one.position = any(array(
          select position from campaign_recipient where instance_id = $1 and campaign_id = $3 and state = 'failed' and chat_id <> ''
          order by position limit $5))
          and one.state = 'failed'
        returning one.campaign_id, one.position, one.state, 'failed' as was, $4::bigint as at),
      ${countedCampaigns({ recipients: 'recipients' })}
      select (select count(*)::int from owned) as owned, (select count(*)::int from recipients) as count`,
  },
  removeAll: {
    name: 'campaign-remove-all',
    text: `with ${owned},
      gone as (
        update campaign set status = 'deleting' where instance_id = $1 and exists (select from owned) and status <> 'deleting'
          and ($3::bigint is null or (status = 'done' and finished_at < $3)) returning total)
      select (select count(*)::int from owned) as owned, count(*)::int as campaigns, coalesce(sum(total), 0)::int as recipients from gone`,
  },
  expire: {
    name: 'campaign-expire',
    text: `with gone as (
        update campaign set status = 'deleting' where ctid = any(array(
          select ctid from campaign where status = 'done' and finished_at < $1 order by finished_at limit $2)) and status = 'done' returning 1)
      select count(*)::int as count from gone`,
  },
  expirePaused: {
    name: 'campaign-expire-paused',
    text: `with gone as (
        update campaign set status = 'deleting' where ctid = any(array(
          select ctid from campaign where status = 'paused' and updated < $1 order by updated limit $2)) and status = 'paused' returning 1)
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Builds the query of a page of recipients. $1: instance. $2: campaign. $3: limit. $4: offset. $5: states. */
export const recipientsStatement = (filtered: boolean): Statement => ({
  name: `campaign-recipients-${filtered ? 'of-states' : 'all'}`,
  text: `select page.position, page.number, page.chat_id as "chatId", page.state, page.error, page.message_id as "messageId", page.at::float8 as at,
      coalesce(page.own, campaign.shared) as send, to_jsonb(message) as message
    from (
      select * from campaign_recipient where instance_id = $1 and campaign_id = $2 ${filtered ? 'and state = any($5::text[])' : ''}
      order by campaign_recipient.position limit $3 offset $4) as page
    join campaign on campaign.instance_id = $1 and campaign.id = $2
    left join lateral (
      select ${shownMessageFields} from message
      where page.message_id <> '' and message.instance_id = $1 and message.message_id = page.message_id and message.send_folder_id = $2 limit 1) as message on true
    order by page.position`,
});

/** The largest number of recipients that one statement inserts. */
const pieceRows = 5_000;

interface DueRow extends Campaign {
  readonly position: number | null;
  readonly number: string;
  readonly send: CampaignSend;
}

const dueOf = ({ position, number, send, ...campaign }: DueRow): DueMessage => ({
  campaign,
  recipient: position === null ? null : { position, number, send },
});

const pieceOf = (recipients: readonly NewRecipient[]) => [
  recipients.map(({ number }) => number),
  recipients.map(({ chatId }) => chatId),
  recipients.map(({ state }) => state),
  recipients.map(({ error }) => error),
  recipients.map(({ own }) => (own === null ? null : jsonText(own))),
];

/** Returns the row of a statement with the column `owned`. Throws `EpochLost` if the instance has another owner. */
const ownedRow = async <T>(database: Database, statement: Statement, values: readonly unknown[]): Promise<T> => {
  const rows = await database.rows<Owned & T>(statement, values);
  checkOwned(rows);
  return rows[0]!;
};

export const createCampaignStore = (database: Database): CampaignStore => {
  const one = async <T>(statement: Statement, values: readonly unknown[]): Promise<T | undefined> =>
    (await database.rows<T>(statement, values))[0];
  return {
    create: ({ instanceId, epoch }, { id, info, shared, scheduledFor, delayMin, delayMax, created }, recipients, key) =>
      database.transaction(async (runner) => {
        const failed = recipients.filter(({ state }) => state === 'failed').length;
        const facts = [
          id,
          info,
          shared === null ? null : jsonText(shared),
          scheduledFor,
          delayMin,
          delayMax,
          recipients.length,
          failed,
          created,
        ];
        await changeOwned(runner, campaignStatements.insert, [instanceId, epoch, ...facts]);
        if (key) await putSendKey(runner, { instanceId, epoch }, key);
        for (let at = 0; at < recipients.length; at += pieceRows)
          await runner.rows(campaignStatements.recipients, [instanceId, id, at, ...pieceOf(recipients.slice(at, at + pieceRows))]);
      }),
    list: (instance, done, limit) => database.rows<Campaign>(campaignStatements.list, [instance, limit, done]),
    get: async (instance, id) => (await one<Campaign>(campaignStatements.get, [instance, id])) ?? null,
    async recipients(instance, { campaignId, states, limit, offset }) {
      const values = [instance, campaignId, limit, offset, ...(states === null ? [] : [states])];
      const rows = await database.rows<RecipientRow & { readonly message: Message | null }>(recipientsStatement(states !== null), values);
      return rows.map((row) => ({ ...row, message: row.message && { ...row.message, raw: null } }));
    },
    active: async (instance) =>
      (await one<{ campaigns: number; waiting: number }>(campaignStatements.active, [instance])) ?? { campaigns: 0, waiting: 0 },
    async next(instance, now, without) {
      const row = await one<DueRow>(campaignStatements.next, [instance, now, without]);
      return row === undefined ? null : dueOf(row);
    },
    working: async () => (await database.rows<{ id: InstanceId }>(campaignStatements.working, [])).map(({ id }) => id),
    async settle({ instanceId, epoch }, at) {
      checkOwned(await database.rows<Owned>(campaignStatements.settle, [instanceId, epoch, at]));
    },
    nthSent: async (instance, since, n) => (await one<{ at: number }>(campaignStatements.nthSent, [instance, since, n - 1]))?.at ?? null,
    sentSince: async (instance, since) => (await one<{ count: number }>(campaignStatements.sentSince, [instance, since]))?.count ?? 0,
    change: async ({ instanceId, epoch }, id, from, to, at) => {
      const values = [instanceId, epoch, id, from, to, at];
      return (await ownedRow<{ status: CampaignStatus | null }>(database, campaignStatements.change, values)).status;
    },
    async retry({ instanceId, epoch }, id, at, limit) {
      return (await ownedRow<{ count: number }>(database, campaignStatements.retry, [instanceId, epoch, id, at, limit])).count;
    },
    async removeAll({ instanceId, epoch }, doneBefore) {
      const values = [instanceId, epoch, doneBefore];
      const { campaigns, recipients } = await ownedRow<RemovedCampaigns>(database, campaignStatements.removeAll, values);
      return { campaigns, recipients };
    },
    expire: expireRows(database, campaignStatements.expire),
    expirePaused: expireRows(database, campaignStatements.expirePaused),
  };
};

// The store of contacts that opted out of campaigns.

export const optOutStatements = {
  /** $2: the ids of a chat. */
  has: {
    name: 'opt-out-has',
    text: `select exists (select from (${sameChatIds(2)}) as same
      join opt_out on opt_out.instance_id = $1 and opt_out.chat_id = same.address) as has`,
  },
  /** $2: limit. $3: offset. */
  list: {
    name: 'opt-out-list',
    text: `select chat_id as "chatId", opt_out.at::float8 as at, source as by from opt_out where instance_id = $1
      order by opt_out.at desc, opt_out.chat_id desc limit $2 offset $3`,
  },
  count: { name: 'opt-out-count', text: `select count(*)::int as count from opt_out where instance_id = $1` },
  /** $3: chats. $4: time. */
  add: whileOwned(
    'opt-out-add',
    `insert into opt_out (instance_id, chat_id, at, source) select $1, chat_id, $4::bigint, 'api' from unnest($3::text[]) as chat_id
     where exists (select from owned) on conflict (instance_id, chat_id) do nothing returning 1`,
  ),
  remove: whileOwned(
    'opt-out-remove',
    `delete from opt_out where instance_id = $1 and chat_id = any($3::text[]) and exists (select from owned) returning 1`,
  ),
} as const satisfies Readonly<Record<string, Statement>>;

export const createOptOutStore = (database: Database): OptOutStore => ({
  has: async (instance, chatIds) =>
    (await database.rows<{ has: boolean }>(optOutStatements.has, [instance, chatIds.flatMap(chatNames)]))[0]?.has ?? false,
  async list(instance, limit, offset) {
    const [optOuts, [counted]] = await Promise.all([
      database.rows<OptOut>(optOutStatements.list, [instance, limit, offset]),
      database.rows<{ count: number }>(optOutStatements.count, [instance]),
    ]);
    return { optOuts, total: counted?.count ?? 0 };
  },
  add: ({ instanceId, epoch }, chatIds, at) => changeOwned(database, optOutStatements.add, [instanceId, epoch, chatIds, at]),
  remove: ({ instanceId, epoch }, chatIds) => changeOwned(database, optOutStatements.remove, [instanceId, epoch, chatIds]),
});
