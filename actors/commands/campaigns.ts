/** Commands on campaigns. A campaign can be created without a live session. A stored campaign is sent when the session is live. */
import type { Operable } from '../session/requests.ts';
import { hasFilesToTake, withFilesTaken } from '../attachments.ts';
import type { CampaignMethods, CampaignInput, CampaignStats } from '../views.ts';
import { KeyedMutex } from '../waiting.ts';
import {
  done,
  notConnected,
  plainNumber,
  refuse,
  unknownInstance,
  type Campaign,
  type CampaignSend,
  type CampaignStatus,
  type Claim,
  type CreatedCampaign,
  type EstimatedCampaign,
  type GivenFile,
  type InstanceId,
  type Result,
  type IdempotencyKey,
} from '../model.ts';
import { dayMs, quietFor, timeLeft, type CampaignWork } from '../policy/campaign-policy.ts';
import { contentProblem } from '../policy/content-rules.ts';
import { type NewRecipient, StorageFailure } from '../ports.ts';
import { recipientProblem } from '../session/campaign-send.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import type { Registry } from '../supervisor/registry.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Chores } from '../supervisor/chores.ts';
import type { SendOnce } from './sends.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells &
  WithPorts<'attachments' | 'campaigns' | 'chance' | 'optOuts' | 'time'> &
  WithPolicy<'campaigns'> & {
    readonly campaigns: Campaigns;
    readonly chores: Pick<Chores, 'wakeRemover'>;
    readonly registry: Registry;
  };

const unknownFolder = refuse('notFound', 'Folder not found');

/** The number of recipients that one turn of the event loop processes. */
const perTurn = 1_000;

/** The largest number of recipients that one statement returns to `waiting`. */
const retriedAtOnce = 2_000;

/** The largest number of campaigns in one list. */
const mostListed = 1_000;

const isAddress = ({ source }: GivenFile): boolean => /^\s*https?:/i.test(source);

interface Listed {
  readonly recipients: readonly NewRecipient[];
  readonly duplicates: number;
}

/** Returns a recipient and its dedupe key. All forms of a number have the same key. */
const recipientOf = (
  cell: Operable,
  written: string,
  own: CampaignSend | null,
): { readonly key: string; readonly recipient: NewRecipient } => {
  const chat = cell.link.chatOf(plainNumber(written));
  const problem = chat.ok ? recipientProblem(chat.value.chatId) : chat.refusal;
  if (!chat.ok || problem !== null)
    return { key: written, recipient: { number: written, chatId: '', state: 'failed', error: problem?.message ?? '', own } };
  const { chatId, forms } = chat.value;
  const key = forms.toSorted()[0] ?? chatId;
  return { key, recipient: { number: written, chatId, state: 'waiting', error: '', own } };
};

/** Removes duplicate recipients and keeps their order. A recipient with several different messages is kept once per message. */
async function listed({ ports: { time } }: Host, cell: Operable, given: CampaignInput['recipients']): Promise<Listed> {
  const seen = new Set<string>();
  const recipients: NewRecipient[] = [];
  for (const [at, { number, own }] of given.entries()) {
    if (at % perTurn === perTurn - 1) await time.turn();
    const { key, recipient } = recipientOf(cell, number, own);
    const whole = own === null ? key : `${key} ${JSON.stringify(own.content)}`;
    if (seen.has(whole)) continue;
    seen.add(whole);
    recipients.push(recipient);
  }
  return { recipients, duplicates: given.length - recipients.length };
}

/** Returns the first problem of the messages; null if all are valid. */
const problemOf = ({ shared, recipients }: CampaignInput): string | null => {
  const common = shared && contentProblem(shared.content);
  if (common) return common;
  for (const [at, { own }] of recipients.entries()) {
    const problem = own && contentProblem(own.content);
    if (problem) return `messages.${at}: ${problem}`;
  }
  return null;
};

/**
 * Fetches and keeps the files of a campaign, so that no stored message contains the bytes of a file. The files of an individual message are an exception if all
 * of them are at URLs. They are fetched when the message is sent, because a campaign may have thousands of such files.
 */
async function withFiles(host: Host, id: InstanceId, input: CampaignInput): Promise<Result<CampaignInput>> {
  const { attachments, time } = host.ports;
  const taken = async (send: CampaignSend | null, later: boolean): Promise<Result<CampaignSend | null>> => {
    if (send === null || !hasFilesToTake(send.content)) return done(send);
    const content = await withFilesTaken(
      send.content,
      (given) => attachments.take(id, given),
      later ? (given) => !isAddress(given) : undefined,
    );
    return content.ok ? done({ ...send, content: content.value }) : content;
  };
  const shared = await taken(input.shared, false);
  if (!shared.ok) return shared;
  const recipients: { readonly number: string; readonly own: CampaignSend | null }[] = [];
  for (const [at, { number, own }] of input.recipients.entries()) {
    if (at % perTurn === perTurn - 1) await time.turn();
    const one = own === null ? done(null) : await taken(own, true);
    if (!one.ok) return one;
    recipients.push({ number, own: one.value });
  }
  return done({ ...input, shared: shared.value, recipients });
}

/** Returns a refusal if the instance has reached its limit of campaigns, else null. */
async function fullness({ ports, policy }: Host, id: InstanceId): Promise<ReturnType<typeof refuse> | null> {
  const { atOnce } = policy.campaigns;
  if ((await ports.campaigns.active(id)).campaigns < atOnce) return null;
  return refuse('limited', `an instance has at most ${atOnce} campaigns under way`, { retryAfter: 60 });
}

const waitingOf = ({ total, sent, failed, skipped, unknown }: Campaign): number => total - sent - failed - skipped - unknown;

const isActive = ({ status }: Campaign): boolean => status === 'waiting' || status === 'sending';

const workOf = (campaign: Campaign): CampaignWork => ({ ...campaign, waiting: waitingOf(campaign) });

/** Estimates the time until each campaign has sent its last message. `active` contains all active campaigns of the instance. */
const estimated = (
  { ports, policy, campaigns }: Host,
  id: InstanceId,
  all: readonly Campaign[],
  active: readonly Campaign[],
): readonly EstimatedCampaign[] => {
  const now = ports.time.now();
  const next = Math.max(now, campaigns.nextAt(id) ?? 0);
  // A campaign without waiting recipients delays no other campaign.
  const due = active.filter((one) => one.scheduledFor <= now && waitingOf(one) > 0);
  return all.map((campaign) => {
    if (campaign.status === 'paused') return { ...campaign, remainingMs: null };
    const others = isActive(campaign) ? due.filter((one) => one.id !== campaign.id).map(workOf) : [];
    const start = campaign.scheduledFor <= now ? next : campaign.scheduledFor;
    return { ...campaign, remainingMs: timeLeft(policy.campaigns, workOf(campaign), others, { start, now }) };
  });
};

async function listOf(host: Host, id: InstanceId, isDone: boolean | null): Promise<readonly EstimatedCampaign[]> {
  const all = await host.ports.campaigns.list(id, isDone, mostListed);
  return estimated(host, id, all, all.filter(isActive));
}

/**
 * Validates and stores a campaign. `storing` serialises the count of campaigns and the write, so that concurrent calls cannot exceed the limit. `key`: the
 * idempotency key, which is stored with the campaign.
 */
async function create(
  host: Host,
  storing: KeyedMutex,
  id: InstanceId,
  given: CampaignInput,
  key: IdempotencyKey | null,
): Promise<Result<CreatedCampaign>> {
  const { ports, policy, campaigns } = host;
  const cell = host.cells.get(id);
  if (!cell) return unknownInstance;
  if (cell.record.jid === '') return notConnected;
  const { recipients: most } = policy.campaigns;
  if (given.recipients.length > most) return refuse('invalid', `a campaign has at most ${most} recipients`);
  if (given.delayMin > given.delayMax) return refuse('invalid', 'delayMin must not be greater than delayMax');
  const problem = problemOf(given);
  if (problem !== null) return refuse('invalid', problem);
  const full = await fullness(host, id);
  if (full) return full;
  const { recipients, duplicates } = await listed(host, cell, given.recipients);
  const failed = recipients.filter(({ state }) => state === 'failed');
  if (failed.length === recipients.length) return refuse('invalid', failed[0]?.error ?? 'a campaign has at least one recipient');
  const input = await withFiles(host, id, { ...given, recipients });
  if (!input.ok) return input;
  const { info, delayMin, delayMax, scheduledFor, shared } = input.value;
  const campaign = { id: `r${ports.chance.hex(7)}`, info, delayMin, delayMax, scheduledFor, shared, created: ports.time.now() };
  const whole = recipients.map((recipient, at) => ({ ...recipient, own: input.value.recipients[at]?.own ?? null }));
  return storing.run(id, async () => {
    const fullByNow = await fullness(host, id);
    if (fullByNow) return fullByNow;
    const counts = { sent: 0, failed: failed.length, skipped: 0, unknown: 0, delivered: 0, read: 0, played: 0 };
    const times = { updated: campaign.created, startedAt: 0, finishedAt: 0 };
    const made: Campaign = { ...campaign, ...counts, ...times, status: 'waiting', reason: '', total: recipients.length };
    const active = (await ports.campaigns.list(id, false, mostListed)).filter(isActive);
    const remainingMs = estimated(host, id, [made], active)[0]?.remainingMs ?? 0;
    const answer = done({ id: campaign.id, count: recipients.length, duplicates, failed: failed.length, remainingMs });
    const used = key && { ...key, messageId: campaign.id, at: campaign.created, answer };
    try {
      await ports.campaigns.create({ instanceId: id, epoch: cell.record.epoch }, campaign, whole, used);
    } catch (error) {
      if (error instanceof StorageFailure) settleUnanswered(host, id, campaign.id, used !== null);
      throw error;
    }
    campaigns.look(id);
    return answer;
  });
}

/**
 * Settles a campaign that storage may or may not have, because the write failed without an answer. With an idempotency key the campaign stays, because the
 * client's retry gets its stored answer. Without a key the campaign is removed. The client's retry creates it again, and every message would be sent twice.
 */
function settleUnanswered({ campaigns, chores }: Host, id: InstanceId, campaign: string, hasKey: boolean): void {
  if (hasKey) return campaigns.look(id);
  // The removal fails if the process stops or the instance moves to another node. The campaign then stays.
  campaigns.discard(id, campaign).then(
    () => chores.wakeRemover(),
    () => undefined,
  );
}

const claimOf = ({ registry }: Host, id: InstanceId): Claim => ({ instanceId: id, epoch: registry.record(id)?.epoch ?? 0 });

/** Returns the chat ids of numbers. With `all`, the list includes every form of a number, because an opt-out may be stored under any form. */
const numbersOf = (cell: Operable, numbers: readonly string[], all: boolean): Result<readonly string[]> => {
  const ids: string[] = [];
  for (const number of numbers) {
    const chat = cell.link.chatOf(plainNumber(number));
    if (!chat.ok) return chat;
    ids.push(chat.value.chatId, ...(all ? chat.value.forms : []));
  }
  return done([...new Set(ids)]);
};

async function statsOf({ ports, policy, campaigns }: Host, id: InstanceId): Promise<CampaignStats> {
  const now = ports.time.now();
  const [all, { waiting }, sentToday] = await Promise.all([
    ports.campaigns.list(id, null, mostListed),
    ports.campaigns.active(id),
    ports.campaigns.sentSince(id, now - dayMs),
  ]);
  const quiet = quietFor(policy.campaigns, now);
  const { dailyCap } = policy.campaigns;
  return { campaigns: all, waiting, sentToday, dailyCap, quietUntil: quiet === 0 ? null : now + quiet, nextAt: campaigns.nextAt(id) };
}

function optOutCommands(host: Host): Pick<CampaignMethods, 'optOuts' | 'changeOptOuts'> {
  const { ports } = host;
  return {
    optOuts: (id, limit, offset) => ports.optOuts.list(id, limit, offset),
    async changeOptOuts(id, numbers, optedOut) {
      const cell = host.cells.get(id);
      if (!cell) return unknownInstance;
      const ids = numbersOf(cell, numbers, !optedOut);
      if (!ids.ok) return ids;
      const { optOuts, time } = ports;
      return done(await (optedOut ? optOuts.add(claimOf(host, id), ids.value, time.now()) : optOuts.remove(claimOf(host, id), ids.value)));
    },
  };
}

export function campaignCommands(host: Host, once: SendOnce): CampaignMethods {
  const { ports, campaigns } = host;
  const storing = new KeyedMutex();
  const claim = (id: InstanceId): Claim => claimOf(host, id);

  const change = async (id: InstanceId, campaign: string, from: readonly CampaignStatus[], to: CampaignStatus): Promise<Result<null>> => {
    const before = await ports.campaigns.change(claim(id), campaign, from, to, ports.time.now());
    if (before === null) return unknownFolder;
    const isAsWanted = before === to || (to === 'waiting' && before === 'sending');
    return from.includes(before) || isAsWanted ? done(null) : refuse('conflict', `the folder is ${before}`);
  };

  return {
    createCampaign: (id, input) => once.run(id, input.once, (key) => create(host, storing, id, input, key)),
    async stopCampaign(id, campaign) {
      const changed = await change(id, campaign, ['waiting', 'sending'], 'paused');
      campaigns.resume(id);
      return changed;
    },
    async continueCampaign(id, campaign) {
      while ((await ports.campaigns.retry(claim(id), campaign, ports.time.now(), retriedAtOnce)) === retriedAtOnce);
      const found = await ports.campaigns.get(id, campaign);
      // A finished campaign can continue if some recipients did not get their message.
      const from = found !== null && waitingOf(found) > 0 ? (['paused', 'done'] as const) : (['paused'] as const);
      const changed = await change(id, campaign, from, 'waiting');
      if (changed.ok) campaigns.look(id);
      return changed;
    },
    async deleteCampaign(id, campaign) {
      const changed = await change(id, campaign, ['waiting', 'sending', 'paused', 'done'], 'deleting');
      campaigns.resume(id);
      if (changed.ok) host.chores.wakeRemover();
      return changed;
    },
    async clearCampaigns(id, doneFor) {
      if (!host.registry.record(id)) return unknownInstance;
      const removed = await ports.campaigns.removeAll(claim(id), doneFor === null ? null : ports.time.now() - doneFor);
      campaigns.resume(id);
      host.chores.wakeRemover();
      return done(removed);
    },
    campaigns: (id, isDone) => listOf(host, id, isDone),
    async campaignRecipients(id, query) {
      const campaign = await ports.campaigns.get(id, query.campaignId);
      return campaign === null ? unknownFolder : done({ campaign, recipients: await ports.campaigns.recipients(id, query) });
    },
    campaignStats: (id) => statsOf(host, id),
    ...optOutCommands(host),
  };
}
