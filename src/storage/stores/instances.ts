/** Stores registered instances, the last steps of their sessions, and sessions that are imported from or exported to another gateway. */
import { type InstancePatch, type InstanceRecord, type ProxySettings, unreadableFields, wantedStates } from '#actors/model.ts';
import type { InstanceStore, Landing, MovedKey, SessionStore, StepStore } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault-port.ts';
import type { InstanceRow } from '../entities/index.ts';
import { readArchived } from '../journal/archived-rows.ts';
import { columnOf } from '../journal/columns.ts';
import { checkGone, checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Runner, Statement, UnitDatabase } from '../postgres/database.ts';
import { storable } from '../postgres/parameters.ts';
import { nextEpoch } from '../postgres/tenancy.ts';
import { asText, type Opener, type SealedId, sealedIdOf, type Sealer, tokenHash } from '../vault/sealing.ts';
import { vaultStatements } from '../vault/vault.ts';
import { saveWebhook } from './webhooks.ts';

// Registered instances. A start reads all of them in pages. Later changes write single instances.

const tokenSealedId = (id: string): SealedId => sealedIdOf('instance', id, 'token');
const apikeySealedId = (id: string): SealedId => sealedIdOf('instance', id, 'ai_apikey');
const proxySealedId = (id: string): SealedId => sealedIdOf('instance', id, 'proxy');

/** Returns the columns of the fields that a patch contains. */
const columnsOf = (id: string, { token, aiApikey, proxy, ...rest }: InstancePatch, opener: Pick<Opener, 'seal'>): Partial<InstanceRow> => ({
  ...(storable(rest) as typeof rest),
  ...(token === undefined ? {} : { token: opener.seal(tokenSealedId(id), token), tokenHash: tokenHash(token) }),
  ...(aiApikey === undefined ? {} : { aiApikey: opener.seal(apikeySealedId(id), aiApikey) }),
  ...(proxy === undefined ? {} : { proxy: proxy === null ? null : opener.seal(proxySealedId(id), JSON.stringify(proxy)) }),
});

/** Returns the names of the given columns, and their values as parameters. */
const namedValues = (columns: Partial<InstanceRow>): { readonly names: readonly string[]; readonly values: readonly unknown[] } => {
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  return {
    names: given.map(([field]) => columnOf(field)),
    values: given.map(([field, value]) => (field === 'fieldsMap' && value !== null ? JSON.stringify(value) : value)),
  };
};

/** Stores a patch. Returns false if the instance has another epoch or is removed. The statement has no name, because its text depends on the columns. */
const putPatch = async (runner: Runner, id: string, epoch: number, columns: Partial<InstanceRow>): Promise<boolean> => {
  const { names, values } = namedValues(columns);
  const set = names.map((name, at) => `${name} = $${at + 3}`).join(', ');
  const text = `update instance set ${set} where id = $1 and epoch = $2 and not removed returning id`;
  return (await runner.rows({ name: '', text }, [id, epoch, ...values])).length === 1;
};

/** Inserts an instance. The statement has no name, because its text depends on the columns. */
const insertInstance = async (runner: Runner, { id, created, updated, ...fields }: InstanceRecord, sealer: Pick<Opener, 'seal'>) => {
  const { names, values } = namedValues({ id, created, updated, ...columnsOf(id, fields, sealer) });
  const text = `insert into instance (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`;
  await runner.rows({ name: '', text }, values);
};

/** All columns except the hash of the token. Times are selected as floats, which the driver reads as numbers. */
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

/** Reads at most $2 instances after the id $1. MikroORM would take ten times as long, without yielding to the event loop. */
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

/** The `lastDisconnectReason` of an instance whose wanted state is invalid. */
const damagedWanted = 'the wanted state of the instance is damaged in the database: connect it, or disconnect it';

/** Replaces an invalid wanted state by `offline`, with a reason for the owner. The next connect or disconnect writes a valid state. */
const withWanted = <T extends Pick<InstanceRecord, 'id' | 'wanted' | 'lastDisconnectReason' | 'lastDisconnectCause'>>(
  row: T,
  opener: Opener,
): T => {
  if (wantedStates.includes(row.wanted)) return row;
  opener.report(sealedIdOf('instance', row.id, 'wanted'), { id: row.id, field: 'wanted' });
  const reason = { lastDisconnectReason: damagedWanted, lastDisconnectCause: 'unreadable' };
  return { ...row, wanted: 'offline', ...reason };
};

/** Converts a row. A secret that cannot be unsealed is empty in the record, and `unreadable` names it. */
const recordOf = ({ token, aiApikey, proxy, ...row }: StoredRecord, opener: Opener): InstanceRecord => {
  const { id } = row;
  const opened = {
    token: opener.open(tokenSealedId(id), token, asText, { id, field: 'token' }),
    proxy: proxy && opener.open(proxySealedId(id), proxy, (text) => JSON.parse(text) as ProxySettings, { id, field: 'proxy' }),
    aiApikey: opener.open(apikeySealedId(id), aiApikey, asText, { id, field: 'ai_apikey' }),
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

/** Reads all instances in pages. Each page is a query, so that the event loop runs in between. */
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
 * Marks an instance ($1) under its epoch ($2) and its webhooks as removed, and deletes their secrets. The store of removals deletes their other rows in
 * batches. `for update` waits for open writes. Later writes change nothing, because the epoch has changed.
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

export const createInstanceStore = (database: Database, opener: Opener, now: () => number): InstanceStore => ({
  all: () => readAll(database, opener),
  some: async (ids) => (await database.rows<StoredRecord>(named, [ids])).map((row) => recordOf(row, opener)),
  byToken: async (token) => {
    const [row] = await database.rows<StoredRecord>(tokened, [tokenHash(token)]);
    return row === undefined ? null : recordOf(row, opener);
  },
  // This is no unit of work, because such a unit would not end a statement without an answer, which PostgreSQL might execute after a later one.
  insert: (record) => insertInstance(database, record, opener),
  async update(id, epoch, patch) {
    const isChanged = await putPatch(database, id, epoch, { ...columnsOf(id, patch, opener), updated: now() });
    if (!isChanged) await checkGone(database, [id]);
    return isChanged;
  },
  async remove(id, epoch) {
    const marked = await database.rows(mark, [id, epoch]);
    if (marked.length === 0) await checkGone(database, [id]);
  },
});

const anyLinked: Statement = {
  name: 'instance-linked',
  text: `select exists (select from instance where jid <> '' and not removed) as linked`,
};

/** Returns true if an instance has a linked session. */
export const hasLinked = async (database: Database): Promise<boolean> =>
  (await database.rows<{ readonly linked: boolean }>(anyLinked, []))[0]?.linked === true;

// The last steps of sessions, with one row for each instance.

const stepStatements = {
  /** $1: instances. $2: steps as JSON texts. $3: the number of steps to keep. The range may begin before the first element. */
  append: {
    name: 'steps-append',
    text: `insert into step_log (instance_id, steps)
      select given.id, given.steps::jsonb from unnest($1::text[], $2::text[]) as given (id, steps)
      join instance on instance.id = given.id and not instance.removed
      on conflict (instance_id) do update set steps = jsonb_path_query_array(
        step_log.steps || excluded.steps, '$[last - $most to last]', jsonb_build_object('most', $3::int - 1))`,
  },
  read: { name: 'steps-read', text: 'select steps from step_log where instance_id = $1' },
  last: {
    name: 'steps-last',
    text: `select instance_id as id, jsonb_path_query_array(steps, '$[last - 7 to last]') as steps from step_log where instance_id = any($1::text[])`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const createStepStore = (database: Database): StepStore => ({
  async append(batch, most) {
    const steps = batch.map((one) => JSON.stringify(one.steps.slice(-most)));
    await database.rows(stepStatements.append, [batch.map(({ instanceId }) => instanceId), steps, most]);
  },
  async read(instance) {
    const [row] = await database.rows<{ steps: readonly unknown[] }>(stepStatements.read, [instance]);
    return row?.steps ?? [];
  },
  async last(instances) {
    const found = new Map<string, readonly unknown[]>();
    // The event loop runs between two pages.
    for (let from = 0; from < instances.length; from += pageSize) {
      const values = [instances.slice(from, from + pageSize)];
      for (const { id, steps } of await database.rows<{ id: string; steps: readonly unknown[] }>(stepStatements.last, values))
        found.set(id, steps);
    }
    return found;
  },
});

// The import and export of sessions. An imported session is stored in one transaction, and an exported session is read in batches.

/** The number of rows of one statement. PostgreSQL and this process take some milliseconds for them. */
const pieceRows = 500;

const statements = {
  /** Takes the lock of imports. All imports into a database are serialised, so that no session is imported twice. */
  turn: { name: 'session-turn', text: `select pg_advisory_xact_lock(hashtextextended('dormouse session import', 0))` },
  /** Finds another instance that is linked as the device $1. $2: the instance of the import. */
  elsewhere: { name: 'session-elsewhere', text: `select id from instance where jid = $1 and id <> $2 and not removed limit 1` },
  /**
   * Deletes the keys of the stored session that an import replaces. Keys of the types `inbound-…` stay, because they belong to received messages that were
   * acknowledged.
   */
  replaced: { name: 'session-replaced', text: `delete from signal_key where instance_id = $1 and not starts_with(type, 'inbound-')` },
  lock: { name: 'session-lock', text: `with ${owned} select count(*)::int as owned from owned` },
  /** $1: instance. $2 and $3: type and id of the last key of the previous batch. $4: the largest number of rows. */
  keys: {
    name: 'session-keys',
    text: `select type, id, sealed from signal_key where instance_id = $1 and (type, id) > ($2::text, $3::text) order by type, id limit $4`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Writes the keys in batches, and then the credentials. */
const putSession = async (runner: Runner, id: string, epoch: number, landing: Landing, sealer: Sealer): Promise<void> => {
  const write = async (keys: readonly MovedKey[], credentials: Buffer | null): Promise<void> => {
    const sealed = keys.map(({ type, id: key, value }) => sealer.seal(sealedIdOf('signal_key', id, type, key), value));
    const put = [keys.map(({ type }) => type), keys.map((key) => key.id), sealed];
    checkOwned(await runner.rows<Owned>(vaultStatements.write, [id, epoch, credentials, [], [], ...put, []]));
  };
  // Duplicate keys are removed, because a statement accepts each key only once.
  const keys = [...new Map(landing.keys.map((key) => [`${key.type}\n${key.id}`, key])).values()];
  for (let from = 0; from < keys.length; from += pieceRows) await write(keys.slice(from, from + pieceRows), null);
  await write([], sealer.seal(sealedIdOf('credential', id), landing.credentials));
};

interface KeyRow {
  readonly type: string;
  readonly id: string;
  readonly sealed: Buffer;
}

export const createSessionStore = (
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
      if (landing.fresh !== null) await insertInstance(runner, landing.fresh, sealer);
      checkOwned(await runner.rows<Owned>(statements.lock, [id, epoch]));
      const columns = { ...columnsOf(id, landing.patch, sealer), updated: now() };
      checkOwned([{ owned: Number(await putPatch(runner, id, epoch, columns)) }]);
      if (landing.replaces) await runner.rows(statements.replaced, [id]);
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
        yield { type: row.type, id: row.id, value: sealer.open(sealedIdOf('signal_key', instance, row.type, row.id), row.sealed) };
      const last = rows.at(-1);
      if (last === undefined || rows.length < pieceRows) return;
      ({ type, id } = last);
    }
  },
});
