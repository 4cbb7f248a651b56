/** The rules of campaigns: the effect of a message's status on its recipient and on the counts of its campaign. */
import type { CampaignChange, Entry, Message, MessageStatus, RecipientChange } from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import { makeRowSet } from './columns.ts';
import { rank } from './message-ledger.ts';

export interface CampaignOutcome {
  /** At most one change for each recipient. */
  readonly recipients: readonly RecipientChange[];
  /** At most one change for each campaign. */
  readonly campaigns: readonly CampaignChange[];
  /** Chats that opted out of campaigns. */
  readonly optOuts: readonly { readonly chatId: string; readonly at: number }[];
}

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;

const confirmations = { delivered: 'Delivered', read: 'Read', played: 'Played' } as const;

export class CampaignLedger {
  /** The last state of each recipient, by campaign and position. */
  readonly #recipients = new Map<string, RecipientChange>();
  readonly #campaigns = new Map<string, CampaignChange>();
  readonly #optOuts = new Map<string, number>();

  /** Notes that the message of a recipient was queued. The message may be sent from now on. */
  queued({ sendFolderId: campaignId = '', sendPosition: position = 0, messageId, timestamp }: Message): void {
    if (campaignId !== '') this.#put({ campaignId, position, state: 'sending', error: '', messageId, at: timestamp });
  }

  /** Notes the progress of a message. A receipt also proves that a message without an acknowledgement was sent. */
  progressed(message: Pick<Message, 'sendFolderId' | 'sendPosition' | 'status'>, to: MessageStatus, at: number): void {
    const { sendFolderId: campaignId = '', sendPosition: position = 0, status: from } = message;
    if (campaignId === '') return;
    if (rank(from) < rank('Sent') && rank(to) >= rank('Sent') && to !== 'Deleted')
      this.#put({ campaignId, position, state: 'sent', error: '', messageId: '', at });
    const reached = (status: MessageStatus): number => (rank(from) < rank(status) && rank(to) >= rank(status) ? 1 : 0);
    if (to === 'Deleted' || !Object.values(confirmations).some((status) => reached(status) > 0)) return;
    const known = this.#campaign(campaignId, at);
    this.#campaigns.set(campaignId, {
      ...known,
      delivered: known.delivered + reached(confirmations.delivered),
      read: known.read + reached(confirmations.read),
      played: known.played + reached(confirmations.played),
    });
  }

  recipient({ campaignId, position, state, error, at }: Of<'recipient'>): void {
    this.#put({ campaignId, position, state, error, messageId: '', at });
  }

  changed({ campaign: { id }, status, reason, at }: Of<'campaign'>): void {
    this.#campaigns.set(id, { ...this.#campaign(id, at), status, reason });
  }

  optOut({ chatId: given, at }: Of<'optOut'>): void {
    const chatId = keyText(given);
    this.#optOuts.set(chatId, this.#optOuts.get(chatId) ?? at);
  }

  outcome(): CampaignOutcome {
    return {
      recipients: [...this.#recipients.values()],
      campaigns: [...this.#campaigns.values()],
      optOuts: [...this.#optOuts].map(([chatId, at]) => ({ chatId, at })),
    };
  }

  #put(change: RecipientChange): void {
    const key = `${change.campaignId} ${change.position}`;
    const messageId = change.messageId || (this.#recipients.get(key)?.messageId ?? '');
    this.#recipients.set(key, { ...change, messageId });
  }

  #campaign(campaignId: string, at: number): CampaignChange {
    return this.#campaigns.get(campaignId) ?? { campaignId, status: '', reason: '', delivered: 0, read: 0, played: 0, at };
  }
}

// The part of a commit that writes campaigns: states of recipients, and the counts that follow from them.

/**
 * Updates recipients. A settled recipient changes only if a receipt proves that its message was sent. The statement returns the previous states, from
 * which the counts of the campaign follow. The position of a recipient is sent as `place`, because row sets use `position` for their order.
 */
export const recipientRows = (first: number) => {
  const rows = makeRowSet({ campaignId: 'text', place: 'bigint', state: 'text', error: 'text', messageId: 'text', at: 'bigint' }, first);
  const [state, place] = [rows.value('state'), rows.value('place')];
  const sql = `update campaign_recipient as one set state = ${state}, error = ${rows.value('error')}, at = ${rows.value('at')},
      message_id = case when ${rows.value('messageId')} = '' then one.message_id else ${rows.value('messageId')} end
    from ${rows.from} join campaign_recipient as before
      on before.instance_id = $1 and before.campaign_id = fresh.campaign_id and before.position = ${place}
    where one.instance_id = $1 and one.campaign_id = any(${rows.array('campaignId')}) and one.campaign_id = fresh.campaign_id
      and one.position = ${place} and before.state <> ${state} and (before.state in ('waiting', 'sending') or ${state} = 'sent')
    returning one.campaign_id, one.position, one.state, before.state as was, one.at`;
  return { ...rows, sql };
};

/**
 * Builds the row set of the counts that a commit adds to campaigns, and of their new status. `countedCampaigns` writes these rows together with the counts
 * of recipients.
 */
export const campaignRows = (first: number) => {
  const rows = makeRowSet(
    { campaignId: 'text', status: 'text', reason: 'text', delivered: 'bigint', read: 'bigint', played: 'bigint', at: 'bigint' },
    first,
  );
  return { ...rows, sql: `select * from (select ${rows.values} from ${rows.from}) as said (${rows.columns})` };
};

export const optOutRows = (first: number) => {
  const rows = makeRowSet({ chatId: 'text', at: 'bigint' }, first);
  const sql = `insert into opt_out (instance_id, source, ${rows.columns}) select $1, 'contact', ${rows.values} from ${rows.from}
    on conflict (instance_id, chat_id) do nothing`;
  return { ...rows, sql };
};

const ends = ['sent', 'failed', 'skipped', 'unknown'] as const;
const confirmed = ['delivered', 'read', 'played'] as const;

/** Returns the change of a count as SQL. A recipient has the state `state`, and had the state `was` before. */
const added = (state: string): string => `(state = '${state}')::int - (was = '${state}')::int`;

const fromRecipients = `select campaign_id, '' as status, '' as reason, at, ${ends.map((state) => `${added(state)} as ${state}`).join(', ')},
    ${confirmed.map((name) => `0 as ${name}`).join(', ')},
    case when state = 'waiting' then position end as back, case when was = 'waiting' then position + 1 end as past`;

const fromCampaigns = `select campaign_id, status, reason, at, ${ends.map((name) => `0 as ${name}`).join(', ')}, ${confirmed.join(', ')},
    null::int as back, null::int as past`;

/**
 * Returns a common table expression that adds the rows of `recipients` (from `recipientRows`) and `campaigns` (from `campaignRows`) to the campaigns. It is a
 * single update, because a statement can change a row only once. Only an active campaign takes the new status. A paused or deleted campaign keeps its status.
 */
export const countedCampaigns = (parts: { readonly recipients?: string; readonly campaigns?: string }): string => {
  const from = [
    ...(parts.recipients === undefined ? [] : [`${fromRecipients} from ${parts.recipients}`]),
    ...(parts.campaigns === undefined ? [] : [`${fromCampaigns} from ${parts.campaigns}`]),
  ];
  const sums = [...ends, ...confirmed].map((name) => `sum(${name}) as ${name}`).join(', ');
  const changes = [...ends, ...confirmed].map((name) => `${name} = campaign.${name} + added.${name}`).join(', ');
  const isActive = `added.status <> '' and campaign.status in ('waiting', 'sending')`;
  return `counted as (
      update campaign set ${changes}, updated = greatest(campaign.updated, added.at),
        next = case when added.back is null then greatest(campaign.next, coalesce(added.past, 0)) else least(campaign.next, added.back) end,
        status = case when ${isActive} then added.status else campaign.status end,
        reason = case when ${isActive} then added.reason else campaign.reason end,
        started_at = case when ${isActive} and added.status = 'sending' and campaign.started_at = 0 then added.at else campaign.started_at end,
        finished_at = case when ${isActive} and added.status = 'done' then added.at else campaign.finished_at end
      from (
        select campaign_id, max(status) as status, max(reason) as reason, max(at) as at, ${sums}, min(back) as back, max(past) as past
        from (${from.join(' union all ')}) as part group by campaign_id) as added
      where campaign.instance_id = $1 and campaign.id = added.campaign_id)`;
};
