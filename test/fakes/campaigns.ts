/** Campaigns in memory, by the same rules as in PostgreSQL. */
import type { Campaign, CampaignStatus, Claim, OptOut, RecipientState, UsedSendKey } from '#actors/model.ts';
import type { CampaignStore, NewCampaign, NewRecipient, OptOutStore, RecipientQuery } from '#actors/ports.ts';
import type { CampaignOutcome } from '#src/storage/journal/campaigns.ts';
import { chatIdsOf } from '#src/contract/views.ts';
import type { CampaignRow, RecipientRow as Recipient } from './records.ts';
import type { FakeDatabase } from './storage.ts';

const ends = ['sent', 'failed', 'skipped', 'unknown'] as const;
const isActive = ({ status }: Campaign): boolean => status === 'waiting' || status === 'sending';

const rowsOf = (db: FakeDatabase, instance: string): CampaignRow[] =>
  [...db.campaigns].flatMap(([key, row]) => (key.startsWith(`${instance} `) ? [row] : []));

const patch = (row: CampaignRow | undefined, change: Partial<Campaign>): void => {
  if (row) row.campaign = { ...row.campaign, ...change };
};

const move = (row: CampaignRow, recipient: Recipient, state: RecipientState, error: string, at: number): void => {
  const by = (name: (typeof ends)[number]): number => row.campaign[name] + Number(state === name) - Number(recipient.state === name);
  const counts = Object.fromEntries(ends.map((name) => [name, by(name)]));
  Object.assign(recipient, { state, error, at });
  patch(row, { ...counts, updated: Math.max(row.campaign.updated, at) });
};

/** Stores the recipients, campaigns and opt-outs of a journal commit. */
export const putCampaigns = (db: FakeDatabase, instance: string, { recipients, campaigns, optOuts }: CampaignOutcome): void => {
  for (const { campaignId, position, state, error, messageId, at } of recipients) {
    const row = db.campaigns.get(`${instance} ${campaignId}`);
    const recipient = row?.recipients[position];
    if (!row || !recipient || recipient.state === state) continue;
    if (recipient.state !== 'waiting' && recipient.state !== 'sending' && state !== 'sent') continue;
    if (messageId !== '') recipient.messageId = messageId;
    move(row, recipient, state, error, at);
  }
  for (const { campaignId, status, reason, delivered, read, played, at } of campaigns) {
    const row = db.campaigns.get(`${instance} ${campaignId}`);
    if (!row) continue;
    const { campaign } = row;
    const further = { delivered: campaign.delivered + delivered, read: campaign.read + read, played: campaign.played + played };
    patch(row, { ...further, updated: Math.max(campaign.updated, at) });
    if (status === '' || !isActive(campaign)) continue;
    const startedAt = status === 'sending' ? campaign.startedAt || at : campaign.startedAt;
    patch(row, { status, reason, startedAt, finishedAt: status === 'done' ? at : 0 });
  }
  for (const { chatId, at } of optOuts)
    if (!db.optOuts.has(`${instance} ${chatId}`)) db.optOuts.set(`${instance} ${chatId}`, { chatId, at, by: 'contact' });
};

export class FakeCampaigns implements CampaignStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  create = (claim: Claim, { shared, ...given }: NewCampaign, recipients: readonly NewRecipient[], key: UsedSendKey | null) =>
    this.#db.run('campaigns.create', () => {
      if (!this.#db.claim(claim)) return;
      if (key) this.#db.sendKeys.set(`${claim.instanceId} ${key.hash}`, key);
      const failed = recipients.filter(({ state }) => state === 'failed').length;
      const counts = { sent: 0, failed, skipped: 0, unknown: 0, delivered: 0, read: 0, played: 0 };
      const times = { updated: given.created, startedAt: 0, finishedAt: 0 };
      const campaign: Campaign = { ...given, ...counts, ...times, status: 'waiting', reason: '', total: recipients.length };
      this.#db.campaigns.set(`${claim.instanceId} ${given.id}`, {
        campaign,
        recipients: recipients.map(({ own, ...one }, position) => ({ ...one, position, messageId: '', at: 0, send: (own ?? shared)! })),
      });
    });

  list = (instance: string, isDone: boolean | null, limit: number) =>
    this.#db.run('campaigns.list', () =>
      rowsOf(this.#db, instance)
        .map(({ campaign }) => campaign)
        .filter(({ status }) => status !== 'deleting' && (isDone === null || (status === 'done') === isDone))
        .toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
        .slice(0, limit),
    );

  get = (instance: string, id: string) =>
    this.#db.run('campaigns.get', () => {
      const campaign = this.#db.campaigns.get(`${instance} ${id}`)?.campaign;
      return campaign === undefined || campaign.status === 'deleting' ? null : campaign;
    });

  recipients = (instance: string, { campaignId, states, limit, offset }: RecipientQuery) =>
    this.#db.run('campaigns.recipients', () =>
      (this.#db.campaigns.get(`${instance} ${campaignId}`)?.recipients ?? [])
        .filter(({ state }) => states === null || states.includes(state))
        .slice(offset, offset + limit)
        .map((one) => ({ ...one, message: this.#db.message(instance, one.messageId) ?? null })),
    );

  active = (instance: string) =>
    this.#db.run('campaigns.active', () => {
      const active = rowsOf(this.#db, instance).filter(({ campaign }) => isActive(campaign));
      const waiting = active.map(({ campaign }) => campaign.total - ends.reduce((sum, name) => sum + campaign[name], 0));
      return { campaigns: active.length, waiting: waiting.reduce((sum, one) => sum + one, 0) };
    });

  next = (instance: string, now: number, without: readonly string[]) =>
    this.#db.run('campaigns.next', () => {
      const active = rowsOf(this.#db, instance).filter(({ campaign }) => isActive(campaign) && !without.includes(campaign.id));
      const rank = ({ campaign: { scheduledFor, updated, id } }: CampaignRow): readonly [number, number, string] => {
        const later = scheduledFor > now;
        return [Number(later), later ? scheduledFor : updated, id];
      };
      const [first] = active.toSorted((a, b) => {
        const [one, other] = [rank(a), rank(b)];
        return one[0] - other[0] || one[1] - other[1] || (one[2] < other[2] ? -1 : 1);
      });
      return first === undefined
        ? null
        : { campaign: first.campaign, recipient: first.recipients.find(({ state }) => state === 'waiting') ?? null };
    });

  working = () =>
    this.#db.run('campaigns.working', () => [
      ...new Set([...this.#db.campaigns].flatMap(([key, { campaign }]) => (isActive(campaign) ? [key.split(' ')[0]!] : []))),
    ]);

  settle = (claim: Claim, at: number) =>
    this.#db.run('campaigns.settle', () => {
      if (!this.#db.claim(claim)) return;
      for (const row of rowsOf(this.#db, claim.instanceId))
        for (const recipient of row.recipients.filter(({ state }) => state === 'sending')) {
          const status = this.#db.message(claim.instanceId, recipient.messageId)?.status ?? '';
          const left = ['Sent', 'Delivered', 'Read', 'Played'].includes(status);
          const error = 'the gateway was interrupted while it was sent: whether it arrived is not known';
          move(row, recipient, left ? 'sent' : 'unknown', left ? '' : error, at);
        }
    });

  nthSent = (instance: string, since: number, n: number) =>
    this.#db.run('campaigns.nthSent', () => this.#sent(instance, since).toSorted((a, b) => b - a)[n - 1] ?? null);

  sentSince = (instance: string, since: number) => this.#db.run('campaigns.sentSince', () => this.#sent(instance, since).length);

  change = (claim: Claim, id: string, from: readonly CampaignStatus[], to: CampaignStatus, at: number) =>
    this.#db.run('campaigns.change', () => {
      const row = this.#db.claim(claim) ? this.#db.campaigns.get(`${claim.instanceId} ${id}`) : undefined;
      const before = row?.campaign.status;
      if (!row || before === undefined || before === 'deleting') return null;
      if (from.includes(before))
        patch(row, { status: to, reason: '', updated: Math.max(row.campaign.updated, at), ...(to === 'waiting' ? { finishedAt: 0 } : {}) });
      return before;
    });

  retry = (claim: Claim, id: string, at: number, limit: number) =>
    this.#db.run('campaigns.retry', () => {
      const row = this.#db.claim(claim) ? this.#db.campaigns.get(`${claim.instanceId} ${id}`) : undefined;
      if (!row || (row.campaign.status !== 'paused' && row.campaign.status !== 'done')) return 0;
      const again = row.recipients.filter(({ state, chatId }) => state === 'failed' && chatId !== '').slice(0, limit);
      for (const recipient of again) {
        move(row, recipient, 'waiting', '', at);
        Object.assign(recipient, { messageId: '', at: 0 });
      }
      return again.length;
    });

  removeAll = (claim: Claim, doneBefore: number | null) =>
    this.#db.run('campaigns.removeAll', () => {
      this.#db.claim(claim);
      const rows = rowsOf(this.#db, claim.instanceId).filter(
        ({ campaign: { status, finishedAt } }) =>
          status !== 'deleting' && (doneBefore === null || (status === 'done' && finishedAt < doneBefore)),
      );
      for (const row of rows) patch(row, { status: 'deleting' });
      return { campaigns: rows.length, recipients: rows.reduce((sum, { campaign }) => sum + campaign.total, 0) };
    });

  expire = (before: number, limit: number) =>
    this.#db.run('campaigns.expire', () => {
      const old = [...this.#db.campaigns.values()].filter(
        ({ campaign: { status, finishedAt } }) => status === 'done' && finishedAt < before,
      );
      for (const row of old.slice(0, limit)) patch(row, { status: 'deleting' });
      return Math.min(limit, old.length);
    });

  expirePaused = (before: number, limit: number) =>
    this.#db.run('campaigns.expirePaused', () => {
      const old = [...this.#db.campaigns.values()].filter(({ campaign: { status, updated } }) => status === 'paused' && updated < before);
      for (const row of old.slice(0, limit)) patch(row, { status: 'deleting' });
      return Math.min(limit, old.length);
    });

  #sent(instance: string, since: number): number[] {
    return this.#db
      .messagesOf(instance)
      .flatMap(({ sendFolderId = '', timestamp }) => (sendFolderId !== '' && timestamp > since ? [timestamp] : []));
  }
}

export class FakeOptOuts implements OptOutStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  has = (instance: string, chatIds: readonly string[]) =>
    this.#db.run('optOuts.has', () => {
      const ids = chatIds.flatMap(chatIdsOf);
      const chats = this.#db.chatsOf(instance).filter((one) => ids.includes(one.chatId) || ids.includes(one.chatLid));
      return [...ids, ...chats.flatMap(({ chatId, chatLid }) => [chatId, chatLid])].some((id) => this.#db.optOuts.has(`${instance} ${id}`));
    });

  list = (instance: string, limit: number, offset: number) =>
    this.#db.run('optOuts.list', () => {
      const all = [...this.#db.optOuts]
        .flatMap(([key, one]) => (key.startsWith(`${instance} `) ? [one] : []))
        .toSorted((a, b) => b.at - a.at || (a.chatId < b.chatId ? 1 : -1));
      return { optOuts: all.slice(offset, offset + limit), total: all.length };
    });

  add = (claim: Claim, chatIds: readonly string[], at: number) =>
    this.#db.run('optOuts.add', () => {
      this.#db.claim(claim);
      const fresh = chatIds.filter((chatId) => !this.#db.optOuts.has(`${claim.instanceId} ${chatId}`));
      for (const chatId of fresh) this.#db.optOuts.set(`${claim.instanceId} ${chatId}`, { chatId, at, by: 'api' } satisfies OptOut);
      return fresh.length;
    });

  remove = (claim: Claim, chatIds: readonly string[]) =>
    this.#db.run('optOuts.remove', () => {
      this.#db.claim(claim);
      return chatIds.filter((chatId) => this.#db.optOuts.delete(`${claim.instanceId} ${chatId}`)).length;
    });
}
