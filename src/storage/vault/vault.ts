/** Credentials and Signal keys of the sessions, sealed, each write one statement that also checks who owns the instance. */
import { CorruptCredentials, type KeyChange, type Vault } from '#src/platform/wire/vault.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import { leavingStatements, makeLeavingKeys } from './leaving-keys.ts';
import { openSealed, placeOf, type Place, type Sealer } from './sealing.ts';
import { makeStanzaLog } from './stanza-log.ts';

export const vaultStatements = {
  credentials: { name: 'vault-credentials', text: `select sealed from credential where instance_id = $1` },
  keys: { name: 'vault-keys', text: `select id, sealed from signal_key where instance_id = $1 and type = $2 and id = any($3::text[])` },
  /** The lower bound lets the primary key skip what sorts before. An upper bound would depend on the collation of the database. */
  ids: { name: 'vault-ids', text: `select id from signal_key where instance_id = $1 and type = $2 and id >= $3 and starts_with(id, $3)` },
  allKeys: { name: 'vault-all-keys', text: `select type, id, sealed from signal_key where instance_id = $1 and type = any($2::text[])` },
  /** $1 instance, $2 epoch, $3 credentials or null, $4 $5 types and ids to remove, $6 $7 $8 types, ids and values to put, $9 handled stanzas. */
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
  /** $1 instance. The keys and the log go in pieces: see `leaving-keys.ts`. */
  forget: { name: 'vault-forget', text: 'delete from credential where instance_id = $1' },
  /** $1 instance, $2 reason, $3 time. Replaces what was set aside before. */
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

/** Pieces of keys that go while the caller waits: those of a usual session. */
const piecesAtOnce = 5;

/** The last change of each key; the database takes a key only once a statement. */
const lastChanges = (changes: readonly KeyChange[]): readonly KeyChange[] =>
  changes.length < 2 ? changes : [...new Map(changes.map((change) => [`${change.type}\n${change.id}`, change])).values()];

export const makeVault = (database: Database, sealer: Sealer, now: () => number): Vault => {
  const opened = (place: Place, sealed: Uint8Array): string => openSealed(sealer, place, sealed).toString('utf8');
  const openKey = (instance: string, { type, id, sealed }: KeyRow): string => opened(placeOf('signal_key', instance, type, id), sealed);
  const leaving = makeLeavingKeys(database);
  const clearing = new Map<string, Promise<void>>();
  const cleared = (instance: string): Promise<void> => {
    const underWay = clearing.get(instance) ?? leaving.all(instance).finally(() => clearing.delete(instance));
    clearing.set(instance, underWay);
    return underWay;
  };
  return {
    async credentials(instance) {
      const [row] = await database.rows<{ sealed: Buffer }>(vaultStatements.credentials, [instance]);
      if (!row) return null;
      const text = opened(placeOf('credential', instance), row.sealed);
      try {
        JSON.parse(text);
      } catch {
        throw new CorruptCredentials('stored credentials are no JSON');
      }
      return text;
    },
    async keys(instance, type, ids) {
      const rows = await database.rows<KeyRow>(vaultStatements.keys, [instance, type, ids]);
      return new Map(rows.map(({ id, sealed }) => [id, openKey(instance, { type, id, sealed })]));
    },
    async idsWithPrefix(instance, type, prefix) {
      const rows = await database.rows<{ id: string }>(vaultStatements.ids, [instance, type, prefix]);
      return rows.map(({ id }) => id);
    },
    async allKeys(instance, types) {
      const rows = await database.rows<KeyRow>(vaultStatements.allKeys, [instance, types]);
      return rows.map((row) => ({ type: row.type, id: row.id, value: openKey(instance, row) }));
    },
    async write(instance, epoch, { credentials, keys, handled = [] }) {
      const saved = credentials === undefined ? null : sealer.seal(placeOf('credential', instance), credentials);
      const removed: [string[], string[]] = [[], []];
      const put: [string[], string[], Buffer[]] = [[], [], []];
      for (const { type, id, value } of lastChanges(keys)) {
        const [types, ids] = value === null ? removed : put;
        types.push(type);
        ids.push(id);
        if (value !== null) put[2].push(sealer.seal(placeOf('signal_key', instance, type, id), value));
      }
      checkOwned(await database.rows<Owned>(vaultStatements.write, [instance, epoch, saved, ...removed, ...put, handled]));
    },
    ...makeStanzaLog(database, sealer, now),
    async discard(instance, epoch, how, reason) {
      await database.transaction(async (runner) => {
        checkOwned(await runner.rows<Owned>(vaultStatements.lock, [instance, epoch]));
        if (how === 'delete') await runner.rows(vaultStatements.forget, [instance]);
        else await runner.rows(vaultStatements.retire, [instance, reason, now()]);
        await runner.rows(leavingStatements.mark, [instance]);
      });
      // The session has ended, whatever becomes of the keys: an interrupted deletion goes on before the next pairing, or after the next start.
      if (await leaving.some(instance, piecesAtOnce).catch(() => true)) void cleared(instance).catch(() => undefined);
    },
    cleared,
  };
};
