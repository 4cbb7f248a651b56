/** The store of the credentials and Signal keys of sessions. Values are sealed. Each write is one statement, which also checks the owner of the instance. */
import type { Log } from '#actors/ports.ts';
import { CorruptCredentials, type KeyChange, type Vault, type VaultChange } from '#src/platform/wire/vault-port.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { GatheredWrites, type KeyWrite } from './gathered-writes.ts';
import { LeavingKeys, leavingStatements } from './leaving-keys.ts';
import { openSealed, type SealedId, sealedIdOf, type Sealer } from './sealing.ts';

// The inbound log in the database. It contains received stanzas, sealed. A write of the vault deletes the stanzas that it names as handled.

export const stanzaStatements = {
  /** $3: numbers of the stanzas. $4: the current time. $5: the sealed stanzas. */
  log: {
    name: 'vault-log',
    text: `with ${owned},
      put as (
        insert into inbound (instance_id, seq, tries, at, sealed)
        select owned.id, fresh.seq, 0, $4, fresh.sealed from owned, unnest($3::bigint[], $5::bytea[]) as fresh (seq, sealed)
        on conflict (instance_id, seq) do nothing)
      select count(*)::int as owned from owned`,
  },
  tried: {
    name: 'vault-tried',
    text: `with ${owned},
      counted as (
        update inbound i set tries = i.tries + 1 from owned where i.instance_id = $1 and i.seq = any($3::bigint[]) and owned.id = i.instance_id)
      select count(*)::int as owned from owned`,
  },
  /** $2: the number of tries after which a stanza is set aside. Deletes the stanzas that are set aside and were logged before $3. */
  logged: {
    name: 'vault-logged',
    text: `with old as (delete from inbound where instance_id = $1 and tries >= $2 and at < $3)
      select seq::float8 as seq, seq::text as name, tries, case when tries < $2 then sealed end as sealed from inbound where instance_id = $1 order by inbound.seq`,
  },
  /** $2: the number of tries after which a stanza is set aside. $3: numbers of the stanzas in damaged rows. */
  setAside: {
    name: 'vault-set-aside',
    text: `update inbound set tries = greatest(tries, $2) where instance_id = $1 and seq = any($3::text[]::bigint[])`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface LogRow {
  readonly seq: number;
  /** The exact number of the stanza as text. In a damaged row, `seq` may be rounded. */
  readonly name: string;
  readonly tries: number;
  readonly sealed: Buffer | null;
}

/** The time for which a stanza that was set aside is kept: 30 days. In milliseconds. */
const asideKept = 30 * 86_400_000;

const inboundSealedId = (instance: string, seq: number): SealedId => sealedIdOf('inbound', instance, '', String(seq));

/** Unseals a logged stanza. Returns null for a damaged row: it cannot be unsealed, or its number is so large that no stanza could follow. */
const openStanza = (instance: string, { seq, tries, sealed }: LogRow & { readonly sealed: Buffer }, sealer: Sealer) => {
  try {
    return Number.isSafeInteger(seq) ? { seq, tries, stanza: sealer.openBytes(inboundSealedId(instance, seq), sealed) } : null;
  } catch {
    return null;
  }
};

export const vaultStatements = {
  /** $2: the largest length in bytes. Longer credentials are damaged. Reading them could take so long that the connection counts as lost. */
  credentials: {
    name: 'vault-credentials',
    text: `select case when octet_length(sealed) <= $2 then sealed end as sealed from credential where instance_id = $1`,
  },
  keys: { name: 'vault-keys', text: `select id, sealed from signal_key where instance_id = $1 and type = $2 and id = any($3::text[])` },
  /** The lower bound lets the primary key skip smaller ids. An upper bound would depend on the collation of the database. */
  ids: { name: 'vault-ids', text: `select id from signal_key where instance_id = $1 and type = $2 and id >= $3 and starts_with(id, $3)` },
  allKeys: { name: 'vault-all-keys', text: `select type, id, sealed from signal_key where instance_id = $1 and type = any($2::text[])` },
  /**
   * $1: instance. $2: epoch. $3: credentials or null. $4 and $5: types and ids of keys to remove. $6 to $8: types, ids and values of keys to upsert. $9:
   * handled stanzas.
   */
  write: {
    name: 'vault-write',
    text: `with ${owned},
      saved as (
        insert into credential (instance_id, sealed) select id, $3::bytea from owned where $3::bytea is not null
        on conflict (instance_id) do update set sealed = excluded.sealed),
      removed as (
        delete from signal_key k using owned, unnest($4::text[], $5::text[]) as gone (type, id)
        where k.instance_id = $1 and k.type = any($4::text[]) and k.id = any($5::text[])
          and owned.id = k.instance_id and k.type = gone.type and k.id = gone.id),
      put as (
        insert into signal_key (instance_id, type, id, sealed)
        select owned.id, fresh.type, fresh.id, fresh.sealed from owned, unnest($6::text[], $7::text[], $8::bytea[]) as fresh (type, id, sealed)
        on conflict (instance_id, type, id) do update set sealed = excluded.sealed),
      handled as (
        delete from inbound i using owned where i.instance_id = $1 and i.seq = any($9::bigint[]) and owned.id = i.instance_id)
      select count(*)::int as owned from owned`,
  },
  lock: { name: 'vault-lock', text: `with ${owned} select count(*)::int as owned from owned` },
  /** $1: instance. The keys and the inbound log are deleted in batches (see `leaving-keys.ts`). */
  forget: { name: 'vault-forget', text: 'delete from credential where instance_id = $1' },
  /** Moves the credentials to `retired_credential`, where they replace those of an earlier session. $1: instance. $2: reason. $3: time. */
  retire: {
    name: 'vault-retire',
    text: `with credentials as (delete from credential where instance_id = $1 returning instance_id, sealed)
      insert into retired_credential (instance_id, sealed, reason, at) select instance_id, sealed, $2, $3 from credentials
      on conflict (instance_id) do update set sealed = excluded.sealed, reason = excluded.reason, at = excluded.at`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface KeyRow {
  readonly type: string;
  readonly id: string;
  readonly sealed: Buffer;
}

/** The largest length of sealed credentials. Credentials usually have some 10 KB, and no outside party can make them grow. In bytes. */
const mostCredentials = 4_000_000;

/** The number of batches of keys that are deleted while the caller waits. It suffices for an ordinary session. */
const piecesAtOnce = 5;

/** Returns the last change of each key, because a statement accepts each key only once. */
const lastChanges = (changes: readonly KeyChange[]): readonly KeyChange[] =>
  changes.length < 2 ? changes : [...new Map(changes.map((change) => [`${change.type}\n${change.id}`, change])).values()];

const sealedKeys = (sealer: Sealer, instance: string, keys: readonly KeyChange[]): Pick<KeyWrite, 'removed' | 'put'> => {
  const removed: { type: string; id: string }[] = [];
  const put: { type: string; id: string; sealed: Buffer }[] = [];
  for (const { type, id, value } of lastChanges(keys))
    if (value === null) removed.push({ type, id });
    else put.push({ type, id, sealed: sealer.seal(sealedIdOf('signal_key', instance, type, id), value) });
  return { removed, put };
};

const writeAlone = async (database: Database, write: KeyWrite, credentials: Buffer | null): Promise<void> => {
  const { instance, epoch, removed, put, handled } = write;
  const keys = [
    ...(['type', 'id'] as const).map((field) => removed.map((key) => key[field])),
    ...(['type', 'id', 'sealed'] as const).map((field) => put.map((key) => key[field])),
  ];
  checkOwned(await database.rows<Owned>(vaultStatements.write, [instance, epoch, credentials, ...keys, handled]));
};

interface VaultOptions {
  /** Returns Unix milliseconds. */
  now(): number;
  readonly log: Pick<Log, 'error'>;
  /** Called with the instance of each write. */
  readonly noteWriter?: (instance: string) => void;
}

/** Reads and unseals the credentials of an instance. Throws `CorruptCredentials` if they are damaged. */
const openCredentials = async (database: Database, sealer: Sealer, instance: string): Promise<string | null> => {
  const [row] = await database.rows<{ sealed: Buffer | null }>(vaultStatements.credentials, [instance, mostCredentials]);
  if (!row) return null;
  if (row.sealed === null) throw new CorruptCredentials('stored credentials are too long');
  const text = openSealed(sealer, sealedIdOf('credential', instance), row.sealed).toString('utf8');
  try {
    JSON.parse(text);
  } catch {
    throw new CorruptCredentials('stored credentials are not JSON');
  }
  return text;
};

type Stanzas = Parameters<Vault['log']>[2];

export class DatabaseVault implements Vault {
  readonly #database: Database;
  readonly #sealer: Sealer;
  readonly #options: VaultOptions;
  readonly #leaving: LeavingKeys;
  readonly #gathered: GatheredWrites;
  readonly #clearing = new Map<string, Promise<void>>();

  constructor(database: Database, sealer: Sealer, options: VaultOptions) {
    this.#database = database;
    this.#sealer = sealer;
    this.#options = options;
    this.#leaving = new LeavingKeys(database);
    this.#gathered = new GatheredWrites(database, (write) => writeAlone(database, write, null));
  }

  credentials(instance: string): Promise<string | null> {
    return openCredentials(this.#database, this.#sealer, instance);
  }

  async keys(instance: string, type: string, ids: readonly string[]): ReturnType<Vault['keys']> {
    const rows = await this.#database.rows<KeyRow>(vaultStatements.keys, [instance, type, ids]);
    return new Map(rows.map(({ id, sealed }) => [id, this.#openKey(instance, { type, id, sealed })]));
  }

  async idsWithPrefix(instance: string, type: string, prefix: string): Promise<readonly string[]> {
    const rows = await this.#database.rows<{ id: string }>(vaultStatements.ids, [instance, type, prefix]);
    return rows.map(({ id }) => id);
  }

  async allKeys(instance: string, types: readonly string[]): ReturnType<Vault['allKeys']> {
    const rows = await this.#database.rows<KeyRow>(vaultStatements.allKeys, [instance, types]);
    return rows.map((row) => ({ type: row.type, id: row.id, value: this.#openKey(instance, row) }));
  }

  async write(instance: string, epoch: number, { credentials, keys, handled = [], isPatient = false }: VaultChange): Promise<void> {
    this.#options.noteWriter?.(instance);
    const saved = credentials === undefined ? null : this.#sealer.seal(sealedIdOf('credential', instance), credentials);
    const write = { instance, epoch, handled, ...sealedKeys(this.#sealer, instance, keys) };
    await (isPatient && saved === null ? this.#gathered.add(write) : writeAlone(this.#database, write, saved));
  }

  async log(instance: string, epoch: number, stanzas: Stanzas): Promise<void> {
    const seqs = stanzas.map(({ seq }) => seq);
    const sealed = stanzas.map(({ seq, stanza }) => this.#sealer.seal(inboundSealedId(instance, seq), stanza));
    checkOwned(await this.#database.rows<Owned>(stanzaStatements.log, [instance, epoch, seqs, this.#options.now(), sealed]));
  }

  async tried(instance: string, epoch: number, seqs: readonly number[]): Promise<void> {
    checkOwned(await this.#database.rows<Owned>(stanzaStatements.tried, [instance, epoch, seqs]));
  }

  async logged(instance: string, limit: number): ReturnType<Vault['logged']> {
    const { now, log } = this.#options;
    const rows = await this.#database.rows<LogRow>(stanzaStatements.logged, [instance, limit, now() - asideKept]);
    const whole = rows.filter((row): row is LogRow & { readonly sealed: Buffer } => row.sealed !== null);
    const stanzas = whole.map((row) => openStanza(instance, row, this.#sealer)).filter((stanza) => stanza !== null);
    const damaged = whole.length - stanzas.length;
    if (damaged > 0) {
      log.error({ id: instance, field: 'inbound', rows: damaged }, 'storage.unreadable');
      const good = new Set(stanzas.map(({ seq }) => seq));
      const names = whole.filter(({ seq }) => !good.has(seq)).map(({ name }) => name);
      await this.#database.rows(stanzaStatements.setAside, [instance, limit, names]);
    }
    return { stanzas, aside: rows.length - stanzas.length };
  }

  async discard(instance: string, epoch: number, how: 'delete' | 'setAside', reason: string): Promise<void> {
    await this.#database.transaction(async (runner) => {
      checkOwned(await runner.rows<Owned>(vaultStatements.lock, [instance, epoch]));
      if (how === 'delete') await runner.rows(vaultStatements.forget, [instance]);
      else await runner.rows(vaultStatements.retire, [instance, reason, this.#options.now()]);
      await runner.rows(leavingStatements.mark, [instance]);
    });
    // The session has ended even if the deletion of its keys fails. The deletion continues before the next pairing, or after the next start.
    if (await this.#leaving.some(instance, piecesAtOnce).catch(() => true)) void this.cleared(instance).catch(() => undefined);
  }

  cleared(instance: string): Promise<void> {
    const underWay = this.#clearing.get(instance) ?? this.#leaving.all(instance).finally(() => this.#clearing.delete(instance));
    this.#clearing.set(instance, underWay);
    return underWay;
  }

  #openKey(instance: string, { type, id, sealed }: KeyRow): string {
    return openSealed(this.#sealer, sealedIdOf('signal_key', instance, type, id), sealed).toString('utf8');
  }
}
