/** Inserts the rows of a year: rows of the last release before the upgrade, and rows for columns of this release after it. */
import type { Storage } from '#src/storage/open.ts';
import type { Database } from '#src/storage/postgres/database.ts';
import { fill } from '#test/bench/fill.ts';
import { instance, webhook } from '#test/contract/samples.ts';

export interface YearOptions {
  /** A folder that the caller removes. */
  readonly folder: string;
  readonly sessions: number;
  /** The age of the oldest rows. In days. */
  readonly days: number;
  /** The number of messages of all sessions together. */
  readonly messages: number;
  readonly receipts: number;
  /** The number of keys of the largest session. */
  readonly keys: number;
  /** The number of messages sent, and of messages received, whose write-ahead log is measured. */
  readonly traffic: number;
}

const day = 86_400_000;
const hour = 3_600_000;
const text = (sql: string) => ({ name: '', text: sql });

const tables = [
  'message',
  'receipt',
  'receipt_count',
  'chat',
  'contact',
  'outbox',
  'archive',
  'send_key',
  'inbound',
  'campaign',
  'campaign_recipient',
  'signal_key',
  'retired_key',
] as const;

/** Conditions for inserted rows, in tables whose rows of the traffic are removed as soon as their work is done. */
const filledIn: Readonly<Record<string, string>> = { outbox: `where webhook_id = 'w0'`, inbound: `where instance_id = 'r1'` };

/** Returns the number of rows of each table. */
export const countRows = async (database: Database): Promise<Readonly<Record<string, number>>> => {
  const counts = tables.map((table) => `(select count(*)::int from ${table} ${filledIn[table] ?? ''}) as ${table}`);
  const [row] = await database.rows<Readonly<Record<string, number>>>(text(`select ${counts.join(', ')}`), []);
  return row ?? {};
};

/** Inserts the old rows into the tables of the last release. */
export const fillAged = async (database: Database, { sessions, days, messages, receipts }: YearOptions, now: number): Promise<void> => {
  const at = `(${now} - (${days * day}::float8 * (1 - n::float8 / ${Math.max(messages, 1)})))::bigint`;
  const perSession = `'r' || n % ${sessions}`;
  const bytes = (name: string): string => `decode(md5('${name}' || n), 'hex')`;
  await fill(database, 'instance', sessions, { id: `'r' || n`, token: bytes('token'), token_hash: bytes('hash'), epoch: '1' });
  await fill(database, 'message', messages, {
    instance_id: perSession,
    id: `'s' || n`,
    message_id: `'m' || n`,
    chat_id: `(5511900000000 + n % 500)::text || '@s.whatsapp.net'`,
    text: `repeat('x', 60)`,
    status: `'Sent'`,
    from_me: 'true',
    is_group: 'n % 50 = 0',
    timestamp: at,
  });
  const groups = Math.max(1, Math.floor(messages / 50));
  await fill(database, 'receipt', receipts, {
    instance_id: `'r' || ((n % ${groups}) * 50) % ${sessions}`,
    message_id: `'m' || (n % ${groups}) * 50`,
    member: `(200000000000000 + n / ${groups})::text || '@lid'`,
    member_pn: `''`,
    delivered_at: '5',
  });
  const person = `(5511900000000 + n / ${sessions})::text || '@s.whatsapp.net'`;
  const people = Math.ceil(messages / 10);
  await fill(database, 'chat', people, { instance_id: perSession, id: `'c' || n`, chat_id: person, last_message_timestamp: String(now) });
  await fill(database, 'contact', people, { instance_id: perSession, contact_id: person, push_name: `'Person ' || n` });
};

/** Replaces inserted instances by stored ones, because their tokens are encrypted. */
export const makeReadable = async (database: Database, storage: Storage, sessions: number): Promise<void> => {
  // Without constraints the rows of an instance stay, although the instance is deleted for a moment.
  await database.transaction(async (runner) => {
    await runner.rows(text('set local session_replication_role = replica'), []);
    await runner.rows(text('delete from instance'), []);
  });
  const resting = { ...instance.record, wanted: 'offline', jid: '', lid: '', owner: '' } as const;
  for (let n = 0; n < sessions; n += 1) await storage.instances.insert({ ...resting, id: `r${n}`, token: `token ${n}`, name: `r${n}` });
  // The webhook is disabled, so its rows wait.
  await storage.webhooks.save({ ...webhook, id: 'w0', instanceId: 'r0', enabled: false }, 1);
};

/** Inserts recent rows: rows that wait, and rows that are kept for a day. */
export const fillYoung = async (database: Database, { messages, sessions }: YearOptions, now: number): Promise<void> => {
  const perSession = `'r' || n % ${sessions}`;
  const rows = Math.ceil(messages / 20);
  const delivery = {
    webhook_id: `'w0'`,
    instance_id: `'r0'`,
    event_id: `'e' || n`,
    type: `'messages'`,
    lane: `'l' || n % 500`,
    body: `repeat('x', 2000)`,
    at: String(now - hour),
  };
  await fill(database, 'outbox', rows, { ...delivery, not_before: String(now + 10 * hour), size: '2000' });
  await fill(database, 'archive', Math.min(rows, 900), { ...delivery, seq: '-1 - n', dead: 'false', ended_at: String(now - hour) });
  await fill(database, 'send_key', rows, { instance_id: perSession, hash: `md5(n::text)`, at: String(now - hour) });
  await fill(database, 'inbound', Math.min(rows, 500), { instance_id: `'r1'`, seq: 'n' });
  await fill(database, 'campaign', 1, {
    instance_id: `'r0'`,
    id: `'f' || n`,
    status: `'done'`,
    total: String(rows),
    finished_at: String(now - hour),
  });
  await fill(database, 'campaign_recipient', rows, {
    instance_id: `'r0'`,
    campaign_id: `'f0'`,
    position: 'n',
    number: 'n::text',
    state: `'sent'`,
  });
};

/** Inserts keys for the session of this number, which becomes the largest session. */
export const fillKeys = async (database: Database, number: string, keys: number): Promise<void> => {
  const [found] = await database.rows<{ id: string }>(text('select id from instance where owner = $1'), [number]);
  await fill(database, 'signal_key', keys, {
    instance_id: `'${found?.id}'`,
    type: `'session'`,
    id: `(200000000000000 + n)::text || '_1.0'`,
    sealed: `decode(repeat('ab', 400), 'hex')`,
  });
};
