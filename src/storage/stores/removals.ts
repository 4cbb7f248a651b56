/**
 * Deletes the rows of removed instances and webhooks. There may be millions of rows, so each statement deletes one batch. The marked row of the instance or
 * the webhook is deleted last, so that the next start finds an interrupted removal.
 */
import type { Removal, RemovalStore } from '#actors/ports.ts';
import type { Database, Runner, Statement } from '../postgres/database.ts';
import { LeavingKeys } from '../vault/leaving-keys.ts';
import { tallied } from '../journal/tallies.ts';
import { checkOwned, type Owned } from '../ownership.ts';

/** The largest number of rows that one statement deletes. */
const pieceRows = 2_000;

/** Tables with rows of an instance, and the column that orders the rows of a batch. */
const tables = {
  message: 'message_id',
  receipt: 'message_id',
  receipt_count: 'message_id',
  receipt_mark: 'instance_id',
  chat: 'chat_id',
  contact: 'contact_id',
  definition: 'kind',
  inbound: 'seq',
  signal_key: 'type',
  credential: 'instance_id',
  retired_key: 'type',
  leaving_keys: 'instance_id',
  retired_credential: 'instance_id',
  send_key: 'hash',
  refused_entry: 'id',
  step_log: 'instance_id',
  number_lookup: 'form',
  picture: 'id',
  chat_group: 'group_id',
  group_list: 'instance_id',
  chatwoot_chat: 'chat_id',
  chatwoot_message: 'key',
  chatbot_key: 'agent_id',
  chatbot_usage: 'day',
  chatwoot_reply: 'kind',
  campaign_recipient: 'campaign_id',
  campaign: 'id',
  opt_out: 'chat_id',
} as const;

/**
 * Tables whose rows stay after a change of the account, because the rows belong to the instance or to its credentials. Replies from Chatwoot stay, because they
 * are shown as failed.
 */
const keptOfInstances: ReadonlySet<string> = new Set([
  'signal_key',
  'credential',
  'retired_key',
  'leaving_keys',
  'retired_credential',
  'chatbot_key',
  'chatbot_usage',
  'chatwoot_reply',
  'step_log',
]);

export const tablesOfInstances = Object.keys(tables) as readonly (keyof typeof tables)[];

const tablesOfAccounts = tablesOfInstances.filter((table) => !keptOfInstances.has(table));

const removed = (rows: string): string => `with gone as (${rows} returning 1) select count(*)::int as count from gone`;

/**
 * Builds the deletion of a batch. $1: instance. $2: the largest number of rows. $3: the key of the last row of the previous batch. Without $3, each batch
 * would first read the index entries of all deleted rows.
 */
const ofInstance = (table: string, key: string): Statement => ({
  name: `removal-rows-${table}`,
  text: `with gone as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where instance_id = $1 and ${key} >= $3 order by ${key} limit $2))
      returning ${key} as last)
    select max(last)::text as last from gone`,
});

export const removalStatements = {
  pending: {
    name: 'removal-pending',
    text: `select 'webhook' as kind, id from webhook where removed union all select 'instance', id from instance where removed
      union all select 'keys', instance_id from leaving_keys union all select 'campaign', instance_id || ' ' || id from campaign where status = 'deleting'`,
  },
  /** Webhooks that may have deliveries of the instance: its own webhooks and the global webhook. */
  webhooks: {
    name: 'removal-webhooks',
    text: `select id, instance_id = $1 as own from webhook where instance_id = $1 or instance_id is null`,
  },
  /** Locks the row of an instance ($1) against a change of its epoch ($2). */
  claim: { name: 'removal-claim', text: `select 1 as owned from instance where id = $1 and epoch = $2 for key share` },
  ...(Object.fromEntries(Object.entries(tables).map(([table, key]) => [table, ofInstance(table, key)])) as Record<
    keyof typeof tables,
    Statement
  >),
  /** $1: webhook. $2: the largest number of rows. */
  outbox: {
    name: 'removal-outbox',
    text: removed(
      `delete from outbox where seq = any(array(select seq from outbox where webhook_id = $1 order by outbox.type, outbox.at, outbox.seq limit $2))`,
    ),
  },
  archive: {
    name: 'removal-archive',
    text: removed(
      `delete from archive where ctid = any(array(select ctid from archive where webhook_id = $1 order by dead, at, seq limit $2))`,
    ),
  },
  /** Deletes deliveries of one instance. $1: webhook, which may be global. $2: instance. $3: the largest number of rows. */
  sharedOutbox: {
    name: 'removal-shared-outbox',
    text: `with gone as (
        delete from outbox where seq = any(array(
          (select seq from outbox where webhook_id = $1 and instance_id = $2 and not_before = 0 order by seq limit $3)
          union all
          (select seq from outbox where webhook_id = $1 and instance_id = $2 and not_before > 0 order by not_before limit $3)))
        returning webhook_id, not_before, size),
      ${tallied.removed('gone')}
      select count(*)::int as count from gone`,
  },
  /** Past deliveries have no index by instance, so a batch reads $3 rows of any instance. $4 to $6: `dead`, `at` and `seq` of the row before the batch. */
  sharedArchive: {
    name: 'removal-shared-archive',
    text: `with page as (
        select ctid, instance_id, dead, at, seq from archive
        where webhook_id = $1 and (dead, at, seq) > ($4, $5, $6) order by dead, at, seq limit $3),
      gone as (delete from archive where ctid = any(array(select ctid from page where instance_id = $2)) returning webhook_id, dead),
      ${tallied.forgotten('gone')}
      select dead, at::float8 as at, seq::float8 as seq from page order by page.dead desc, page.at desc, page.seq desc limit 1`,
  },
  /** $1: instance. $2: campaign. $3: the largest number of rows. */
  recipients: {
    name: 'removal-recipients',
    text: removed(
      `delete from campaign_recipient where ctid = any(array(
        select ctid from campaign_recipient where instance_id = $1 and campaign_id = $2 order by campaign_recipient.position limit $3))`,
    ),
  },
  campaignItself: { name: 'removal-campaign', text: `delete from campaign where instance_id = $1 and id = $2 and status = 'deleting'` },
  instance: { name: 'removal-instance', text: `delete from instance where id = $1 and removed` },
  webhook: { name: 'removal-webhook', text: `delete from webhook where id = $1 and removed` },
} as const satisfies Readonly<Record<string, Statement>>;

/** The position of each scan, by instance and table. After a restart the scans begin again. */
class Cursors {
  readonly #cursors = new Map<string, readonly unknown[]>();

  get(instance: string, table: string): readonly unknown[] | undefined {
    return this.#cursors.get(`${instance} ${table}`);
  }

  set(instance: string, table: string, cursor: readonly unknown[]): void {
    this.#cursors.set(`${instance} ${table}`, cursor);
  }

  forget(instance: string): void {
    for (const key of this.#cursors.keys()) if (key.startsWith(`${instance} `)) this.#cursors.delete(key);
  }
}

/** Returns a runner that rejects with `EpochLost` and changes nothing, unless the instance has this epoch. */
const ownedBy = (database: Database, id: string, epoch: number): Runner => ({
  rows: (statement, values) =>
    database.transaction(async (runner) => {
      checkOwned(await runner.rows<Owned>(removalStatements.claim, [id, epoch]));
      return runner.rows(statement, values);
    }),
});

/** Returns a function that runs a statement, and returns true if it removed rows. */
const removeBy =
  (runner: Runner) =>
  async (statement: Statement, values: readonly unknown[]): Promise<boolean> => {
    const [row] = await runner.rows<{ count: number }>(statement, values);
    return (row?.count ?? 0) > 0;
  };

const campaignPiece = async (database: Database, name: string): Promise<boolean> => {
  const names = name.split(' ');
  if (await removeBy(database)(removalStatements.recipients, [...names, pieceRows])) return true;
  await database.rows(removalStatements.campaignItself, names);
  return false;
};

export const createRemovalStore = (database: Database): RemovalStore => {
  const cursors = new Cursors();
  const leaving = new LeavingKeys(database);

  const remove = removeBy(database);
  const webhookPiece = async (id: string): Promise<boolean> =>
    (await remove(removalStatements.outbox, [id, pieceRows])) ||
    // The archive comes after the outbox. A courier that archives a delivery meanwhile has either committed by now, or finds no row to archive.
    (await remove(removalStatements.archive, [id, pieceRows]));

  const tablePiece = async (runner: Runner, instance: string, table: keyof typeof tables): Promise<boolean> => {
    const [cursor] = cursors.get(instance, table) ?? [table === 'inbound' ? -1 : ''];
    const [row] = await runner.rows<{ last: string | null }>(removalStatements[table], [instance, pieceRows, cursor]);
    cursors.set(instance, table, [row?.last ?? cursor]);
    return typeof row?.last === 'string';
  };
  const archivePiece = async (runner: Runner, instance: string, webhook: string): Promise<boolean> => {
    const cursor = cursors.get(instance, webhook) ?? [false, -1, -1];
    const values = [webhook, instance, pieceRows, ...cursor];
    const [last] = await runner.rows<{ dead: boolean; at: number; seq: number }>(removalStatements.sharedArchive, values);
    if (last) cursors.set(instance, webhook, [last.dead, last.at, last.seq]);
    return last !== undefined;
  };
  const eventsPiece = async (runner: Runner, instance: string, webhook: string): Promise<boolean> =>
    (await removeBy(runner)(removalStatements.sharedOutbox, [webhook, instance, pieceRows])) || archivePiece(runner, instance, webhook);
  const instancePiece = async (id: string): Promise<boolean> => {
    for (const table of tablesOfInstances) if (await tablePiece(database, id, table)) return true;
    const webhooks = await database.rows<{ id: string; own: boolean | null }>(removalStatements.webhooks, [id]);
    for (const webhook of webhooks) if (await (webhook.own ? webhookPiece(webhook.id) : eventsPiece(database, id, webhook.id))) return true;
    cursors.forget(id);
    return false;
  };

  const accountPiece = async (id: string, epoch: number): Promise<boolean> => {
    const runner = ownedBy(database, id, epoch);
    for (const table of tablesOfAccounts) if (await tablePiece(runner, id, table)) return true;
    // Waiting events of the old account would be delivered under the new account. The same applies to past events that a client replays.
    for (const webhook of await database.rows<{ id: string }>(removalStatements.webhooks, [id]))
      if (await eventsPiece(runner, id, webhook.id)) return true;
    cursors.forget(id);
    return false;
  };

  return {
    pending: () => database.rows<Removal>(removalStatements.pending, []),
    async removePiece(removal) {
      if (removal.kind === 'account') return accountPiece(removal.id, removal.epoch);
      const { kind, id } = removal;
      if (kind === 'campaign') return campaignPiece(database, id);
      if (kind === 'keys') return leaving.piece(id);
      if (await (kind === 'instance' ? instancePiece(id) : webhookPiece(id))) return true;
      await database.rows(removalStatements[kind], [id]);
      return false;
    },
    rewind: (id) => cursors.forget(id),
  };
};
