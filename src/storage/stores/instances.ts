/** Registered instances, and sessions that come from another gateway or leave for one. */
import { type InstancePatch, type InstanceRecord, type ProxySettings, unreadableFields, wantedStates } from '#actors/model.ts';
import type { InstanceStore, Landing, MovedKey, SessionStore, StepStore } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault.ts';
import { InstanceEntity, type InstanceRow } from '../entities/index.ts';
import { readArchived } from '../journal/archived-rows.ts';
import { columnOf } from '../journal/columns.ts';
import { checkGone, checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Runner, Statement, UnitDatabase } from '../postgres/database.ts';
import { storable } from '../postgres/parameters.ts';
import { nextEpoch } from '../postgres/tenancy.ts';
import { asText, type Opener, type Place, placeOf, type Sealer, tokenHash } from '../vault/sealing.ts';
import { vaultStatements } from '../vault/vault.ts';
import { saveWebhook } from './webhooks.ts';

// Registered instances: read once at start, thousands of them perhaps, and changed one by one in plain units of work.

const tokenPlace = (id: string): Place => placeOf('instance', id, 'token');
const apikeyPlace = (id: string): Place => placeOf('instance', id, 'ai_apikey');
const proxyPlace = (id: string): Place => placeOf('instance', id, 'proxy');

/** Fields of the record as columns; only those that the patch names. */
const columnsOf = (id: string, { token, aiApikey, proxy, ...rest }: InstancePatch, opener: Pick<Opener, 'seal'>): Partial<InstanceRow> => ({
  ...(storable(rest) as typeof rest),
  ...(token === undefined ? {} : { token: opener.seal(tokenPlace(id), token), tokenHash: tokenHash(token) }),
  ...(aiApikey === undefined ? {} : { aiApikey: opener.seal(apikeyPlace(id), aiApikey) }),
  ...(proxy === undefined ? {} : { proxy: proxy === null ? null : opener.seal(proxyPlace(id), JSON.stringify(proxy)) }),
});

/** Every column but the hash of the token. Times leave as floats, which the driver reads as numbers. */
const plainFields = [
  'id',
  'name',
  'token',
  'wanted',
  'epoch',
  'owner',
  'jid',
  'lid',
  'profileName',
  'profilePicUrl',
  'isBusiness',
  'platform',
  'systemName',
  'browser',
  'system',
  'lastDisconnectReason',
  'lastDisconnectCause',
  'adminField01',
  'adminField02',
  'aiApikey',
  'chatbotEnabled',
  'chatbotIgnoreGroups',
  'chatbotStopConversation',
  'chatbotStopMinutes',
  'chatbotStopWhenYouSendMsg',
  'msgDelayMin',
  'msgDelayMax',
  'accountLeaves',
  'fieldsMap',
  'proxy',
] as const;
const timeFields = ['lastDisconnect', 'lastActiveAt', 'created', 'updated'] as const;

const selected = [
  ...plainFields.map((field) => `${columnOf(field)} as "${field}"`),
  ...timeFields.map((field) => `${columnOf(field)}::float8 as "${field}"`),
].join(', ');

/** The instances behind $1, at most $2. The ORM would take ten times as long, all in one turn of the event loop. */
const page: Statement = {
  name: 'instance-page',
  text: `select ${selected} from instance where id > $1 and not removed order by id limit $2`,
};
const pageSize = 125;

const named: Statement = { name: 'instance-some', text: `select ${selected} from instance where id = any($1::text[]) and not removed` };
const tokened: Statement = { name: 'instance-token', text: `select ${selected} from instance where token_hash = $1 and not removed` };

type StoredRecord = Omit<InstanceRecord, 'token' | 'aiApikey' | 'proxy'> & {
  readonly token: Buffer;
  readonly aiApikey: Buffer;
  readonly proxy: Buffer | null;
};

/** The reason that the owner reads. */
const damagedWanted = 'the wanted state of the instance is damaged in the database: connect it, or disconnect it';

/** A wanted state that is none is `offline`, with a reason that the owner reads: the next connect or disconnect writes it anew. */
const withWanted = <T extends Pick<InstanceRecord, 'id' | 'wanted' | 'lastDisconnectReason' | 'lastDisconnectCause'>>(
  row: T,
  opener: Opener,
): T => {
  if (wantedStates.includes(row.wanted)) return row;
  opener.report(placeOf('instance', row.id, 'wanted'), { id: row.id, field: 'wanted' });
  const reason = { lastDisconnectReason: damagedWanted, lastDisconnectCause: 'unreadable' };
  return { ...row, wanted: 'offline', ...reason };
};

/** Secrets that do not open are empty in the record, and `unreadable` names them. */
const recordOf = ({ token, aiApikey, proxy, ...row }: StoredRecord, opener: Opener): InstanceRecord => {
  const { id } = row;
  const opened = {
    token: opener.open(tokenPlace(id), token, asText, { id, field: 'token' }),
    proxy: proxy && opener.open(proxyPlace(id), proxy, (text) => JSON.parse(text) as ProxySettings, { id, field: 'proxy' }),
    aiApikey: opener.open(apikeyPlace(id), aiApikey, asText, { id, field: 'ai_apikey' }),
  };
  const unreadable = unreadableFields({
    token: opened.token === null,
    proxy: proxy !== null && opened.proxy === null,
    aiApikey: opened.aiApikey === null,
  });
  return {
    ...withWanted(row, opener),
    proxy: opened.proxy,
    token: opened.token ?? '',
    aiApikey: opened.aiApikey ?? '',
    ...(unreadable === '' ? {} : { unreadable }),
  };
};

/** The loop turns between two pages. */
const readAll = async (database: Database, opener: Opener): Promise<readonly InstanceRecord[]> => {
  const records: InstanceRecord[] = [];
  for (let last = ''; ;) {
    const rows = await database.rows<StoredRecord>(page, [last, pageSize]);
    for (const row of rows) records.push(recordOf(row, opener));
    if (rows.length < pageSize) break;
    last = rows.at(-1)?.id ?? '';
  }
  return records.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
};

/**
 * $1 instance, $2 epoch. Marks the instance and its webhooks; the rest goes in pieces, by the store of removals. The secrets go at once. `for update`
 * is the lock of a change of the epoch: writes that are under way end before, and later ones find nothing.
 */
const mark: Statement = {
  name: 'instance-remove',
  text: `with claimed as materialized (select id from instance where id = $1 and epoch = $2 and not removed for update),
      webhooks as (update webhook set removed = true, private = null from claimed where instance_id = claimed.id),
      credentials as (delete from credential using claimed where instance_id = claimed.id),
      retired as (delete from retired_credential using claimed where instance_id = claimed.id),
      keys as (delete from chatbot_key using claimed where instance_id = claimed.id)
    update instance set removed = true, epoch = ${nextEpoch}, token = '', ai_apikey = '', proxy = null, token_hash = sha256(convert_to('removed ' || instance.id, 'UTF8'))
    from claimed where instance.id = claimed.id returning instance.id`,
};

export const makeInstanceStore = (database: UnitDatabase, opener: Opener, now: () => number): InstanceStore => ({
  all: () => readAll(database, opener),
  some: async (ids) => (await database.rows<StoredRecord>(named, [ids])).map((row) => recordOf(row, opener)),
  byToken: async (token) => {
    const [row] = await database.rows<StoredRecord>(tokened, [tokenHash(token)]);
    return row === undefined ? null : recordOf(row, opener);
  },
  insert: ({ id, created, updated, ...fields }) =>
    database.unit(async (em) => {
      await em.insert(InstanceEntity, { id, created, updated, ...columnsOf(id, fields, opener) } as InstanceRow);
    }),
  async update(id, epoch, patch) {
    const columns = { ...columnsOf(id, patch, opener), updated: now() };
    const changed = await database.unit((em) => em.nativeUpdate(InstanceEntity, { id, epoch, removed: false }, columns));
    if (changed === 0) await checkGone(database, [id]);
    return changed === 1;
  },
  async remove(id, epoch) {
    const marked = await database.rows(mark, [id, epoch]);
    if (marked.length === 0) await checkGone(database, [id]);
  },
});

// The last steps of sessions, one row an instance.

const stepStatements = {
  /** $1 instances, $2 steps as text, $3 how many are kept. A path that begins before the first element begins with it. */
  append: {
    name: 'steps-append',
    text: `insert into step_log (instance_id, steps)
      select given.id, given.steps::jsonb from unnest($1::text[], $2::text[]) as given (id, steps)
      join instance on instance.id = given.id and not instance.removed
      on conflict (instance_id) do update set steps = jsonb_path_query_array(
        step_log.steps || excluded.steps, '$[last - $most to last]', jsonb_build_object('most', $3::int - 1))`,
  },
  read: { name: 'steps-read', text: 'select steps from step_log where instance_id = $1' },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeStepStore = (database: Database): StepStore => ({
  async append(batch, most) {
    const steps = batch.map((one) => JSON.stringify(one.steps.slice(-most)));
    await database.rows(stepStatements.append, [batch.map(({ instanceId }) => instanceId), steps, most]);
  },
  async read(instance) {
    const [row] = await database.rows<{ steps: readonly unknown[] }>(stepStatements.read, [instance]);
    return row?.steps ?? [];
  },
});

// Sessions that come from another gateway, or leave for one: stored in one transaction, read in pieces.

/** Rows of one statement: some milliseconds on either side. */
const pieceRows = 500;

const statements = {
  /** Sessions land one after the other in the whole database, so that none lands twice. */
  turn: { name: 'session-turn', text: `select pg_advisory_xact_lock(hashtextextended('dormouse session import', 0))` },
  /** $1 device, $2 instance. */
  elsewhere: { name: 'session-elsewhere', text: `select id from instance where jid = $1 and id <> $2 and not removed limit 1` },
  lock: { name: 'session-lock', text: `with ${owned} select count(*)::int as owned from owned` },
  /** $1 instance, $2 and $3 where the piece before ended, $4 rows. */
  keys: {
    name: 'session-keys',
    text: `select type, id, sealed from signal_key where instance_id = $1 and (type, id) > ($2::text, $3::text) order by type, id limit $4`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** An update of some columns. It has no name: its text follows from the columns. */
const patched = (columns: readonly string[]): Statement => ({
  name: '',
  text: `update instance set ${columns.map((column, at) => `${column} = $${at + 3}`).join(', ')} where id = $1 and epoch = $2 and not removed returning id`,
});

const parameterOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) ? JSON.stringify(value) : value;

const putPatch = async (runner: Runner, id: string, epoch: number, patch: InstancePatch, sealer: Sealer, now: number): Promise<void> => {
  const columns = Object.entries({ ...columnsOf(id, patch, sealer), updated: now });
  const names = columns.map(([name]) => columnOf(name));
  const rows = await runner.rows(patched(names), [id, epoch, ...columns.map(([, value]) => parameterOf(value))]);
  checkOwned([{ owned: rows.length }]);
};

/** Credentials go with the last piece, though none of it counts before the commit. */
const putSession = async (runner: Runner, id: string, epoch: number, landing: Landing, sealer: Sealer): Promise<void> => {
  const write = async (keys: readonly MovedKey[], credentials: Buffer | null): Promise<void> => {
    const sealed = keys.map(({ type, id: key, value }) => sealer.seal(placeOf('signal_key', id, type, key), value));
    const put = [keys.map(({ type }) => type), keys.map((key) => key.id), sealed];
    checkOwned(await runner.rows<Owned>(vaultStatements.write, [id, epoch, credentials, [], [], ...put, []]));
  };
  // A statement takes each key once.
  const keys = [...new Map(landing.keys.map((key) => [`${key.type}\n${key.id}`, key])).values()];
  for (let from = 0; from < keys.length; from += pieceRows) await write(keys.slice(from, from + pieceRows), null);
  await write([], sealer.seal(placeOf('credential', id), landing.credentials));
};

interface KeyRow {
  readonly type: string;
  readonly id: string;
  readonly sealed: Buffer;
}

export const makeSessionStore = (
  database: UnitDatabase,
  sealer: Sealer,
  vault: Pick<Vault, 'credentials' | 'cleared'>,
  now: () => number,
): SessionStore => ({
  land: ({ instanceId: id, epoch }, landing) =>
    database.transaction(async (runner) => {
      await runner.rows(statements.turn, []);
      const [other] = await runner.rows(statements.elsewhere, [landing.patch.jid ?? '', id]);
      if (other !== undefined) return 'elsewhere';
      checkOwned(await runner.rows<Owned>(statements.lock, [id, epoch]));
      await putPatch(runner, id, epoch, landing.patch, sealer, now());
      await putSession(runner, id, epoch, landing, sealer);
      for (const webhook of landing.webhooks) await saveWebhook(runner, webhook, epoch, sealer);
      return 'stored';
    }),
  rows: (id) => readArchived(database, id),
  credentials: (id) => vault.credentials(id),
  cleared: (id) => vault.cleared(id),
  async *keys(instance) {
    for (let [type, id] = ['', '']; ;) {
      const rows = await database.rows<KeyRow>(statements.keys, [instance, type, id, pieceRows]);
      for (const row of rows)
        yield { type: row.type, id: row.id, value: sealer.open(placeOf('signal_key', instance, row.type, row.id), row.sealed) };
      const last = rows.at(-1);
      if (last === undefined || rows.length < pieceRows) return;
      ({ type, id } = last);
    }
  },
});
