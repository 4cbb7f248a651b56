/** Sessions that come from another gateway, or leave for one: stored in one transaction, read in pieces. */
import type { InstancePatch } from '#actors/model.ts';
import type { Landing, MovedKey, SessionStore } from '#actors/ports.ts';
import type { Vault } from '#src/platform/wire/vault.ts';
import { readArchived } from '../journal/archived-rows.ts';
import { columnOf } from '../journal/columns.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import type { Runner, Statement, UnitDatabase } from '../postgres/database.ts';
import { placeOf, type Sealer } from '../vault/sealing.ts';
import { vaultStatements } from '../vault/vault.ts';
import { columnsOf } from './instances.ts';
import { saveWebhook } from './webhooks.ts';

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
