/** Stores entries that the database refused because of their data. They are sealed. */
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Entry } from '#actors/model.ts';
import type { RefusedEntry, RefusedStore } from '#actors/ports.ts';
import { changeOwned, checkOwned, owned, whileOwned, type Owned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { refusedSealedId, type Sealer } from '../vault/sealing.ts';

/** Limits of the refused entries of an instance. An entry is only refused because of a fault of the gateway, so far fewer are usual. */
const mostEntries = 1_000;
const mostBytes = 64 * 1024 * 1024;

const refusedStatements = {
  /** $3 to $7: id, kind, error, time and content. $8 and $9: the largest numbers of entries and of bytes. */
  keep: {
    name: 'refused-keep',
    text: `with ${owned},
      room as (
        select 1 from refused_entry where instance_id = $1 and id <> $3 having count(*) < $8 and coalesce(sum(length(sealed)), 0) + length($7::bytea) <= $9),
      put as (
        insert into refused_entry (instance_id, id, kind, error, tries, at, sealed)
        select owned.id, $3::text, $4::text, $5::text, 1, $6::bigint, $7::bytea from owned, room
        on conflict (instance_id, id) do update set error = excluded.error, at = excluded.at, sealed = excluded.sealed returning 1)
      select (select count(*)::int from owned) as owned, (select count(*)::int from put) as count`,
  },
  list: {
    name: 'refused-list',
    text: `select instance_id as "instanceId", id, kind, error, tries, at::float8 as at from refused_entry
      order by refused_entry.instance_id, refused_entry.at, refused_entry.id limit $1 offset $2`,
  },
  listOf: {
    name: 'refused-list-of',
    text: `select instance_id as "instanceId", id, kind, error, tries, at::float8 as at from refused_entry
      where instance_id = $3 order by refused_entry.at, refused_entry.id limit $1 offset $2`,
  },
  read: { name: 'refused-read', text: 'select sealed from refused_entry where instance_id = $1 and id = $2' },
  tried: whileOwned(
    'refused-tried',
    'update refused_entry set tries = tries + 1, error = $4 from owned where instance_id = $1 and refused_entry.id = $3 returning 1',
  ),
  remove: whileOwned(
    'refused-remove',
    'delete from refused_entry using owned where instance_id = $1 and refused_entry.id = $3 returning 1',
  ),
} as const satisfies Readonly<Record<string, Statement>>;

/**
 * Returns the id of an entry. The platform repeats a message whose acknowledgement was lost. All entries of a message therefore have the same id, so that the
 * message is stored once. The hash does not reveal the message.
 */
const idOf = (instanceId: string, entry: Entry, newId: () => string): string => {
  if (entry.kind !== 'message') return newId();
  const { messageId, chatId } = entry.message;
  return `m${createHash('sha256')
    .update(JSON.stringify([instanceId, chatId, messageId]))
    .digest('hex')
    .slice(0, 23)}`;
};

export const createRefusedStore = (
  database: Database,
  sealer: Sealer,
  { now, newId }: { readonly now: () => number; readonly newId: () => string },
): RefusedStore => ({
  async keep({ instanceId, epoch }, entry, error) {
    const id = idOf(instanceId, entry, newId);
    const sealed = sealer.seal(refusedSealedId(instanceId, id), serialize(entry));
    const values = [instanceId, epoch, id, entry.kind, error, now(), sealed, mostEntries, mostBytes];
    const rows = await database.rows<Owned & { readonly count: number }>(refusedStatements.keep, values);
    checkOwned(rows);
    return rows[0]?.count === 1;
  },
  async list({ instance, limit, offset }) {
    const page = [limit + 1, offset];
    const rows = await (instance === null
      ? database.rows<RefusedEntry>(refusedStatements.list, page)
      : database.rows<RefusedEntry>(refusedStatements.listOf, [...page, instance]));
    return { entries: rows.slice(0, limit), more: rows.length > limit };
  },
  async read(instance, id) {
    const [row] = await database.rows<{ sealed: Buffer }>(refusedStatements.read, [instance, id]);
    return row === undefined ? null : (deserialize(sealer.openBytes(refusedSealedId(instance, id), row.sealed)) as Entry);
  },
  async tried({ instanceId, epoch }, id, error) {
    await changeOwned(database, refusedStatements.tried, [instanceId, epoch, id, error]);
  },
  remove: async ({ instanceId, epoch }, id) => (await changeOwned(database, refusedStatements.remove, [instanceId, epoch, id])) > 0,
});
