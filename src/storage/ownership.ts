/**
 * Fencing of writes. Every write of an instance carries the epoch under which its writer owns the instance. A write with another epoch changes nothing.
 *
 * The statement locks the row of the instance against a change of the epoch. Either the next owner sees the write, or the write changes nothing. A
 * plain comparison is not enough: the statement may read the epoch before the next owner raises it, and write after the next owner has read.
 * `for key share` is the lock that foreign keys take anyway, so it costs no extra lock. It does not wait for changes of other columns. Raising the
 * epoch locks the row `for update`, which waits for `for key share`.
 */
import type { Claim } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import type { Runner, Statement } from './postgres/database.ts';

/** Returns the common table expression `owned`. $1: the instance. $2: its epoch. If `condition` is false, `owned` is empty, so that nothing is written. */
export const ownedIf = (condition: string): string =>
  `owned as materialized (select id from instance where id = $1 and epoch = $2${condition && ` and ${condition}`} for key share)`;

/** The common table expression `owned` without a condition. $1: the instance. $2: its epoch. */
export const owned = ownedIf('');

export interface Owned {
  readonly owned: number;
}

const lost = (): EpochLost => new EpochLost('the instance has another owner, or is gone');

export const checkOwned = (rows: readonly Owned[]): void => {
  if (rows[0]?.owned !== 1) throw lost();
};

/** Returns `owned` for several instances. `ids` and `epochs`: parameters. Rows are locked in the order of ids, so that two statements cannot deadlock. */
export const ownedAmong = (ids: string, epochs: string): string => `owned as materialized (
  select instance.id from unnest(${ids}::text[], ${epochs}::int[]) as claimed (id, epoch)
  join instance on instance.id = claimed.id and instance.epoch = claimed.epoch order by instance.id for key share of instance)`;

/** Returns `owned` for several instances. An instance whose row another transaction has locked is skipped, so that the statement does not wait. */
export const ownedNow = (ids: string, epochs: string): string => `owned as materialized (
  select instance.id from unnest(${ids}::text[], ${epochs}::int[]) as claimed (id, epoch)
  join instance on instance.id = claimed.id and instance.epoch = claimed.epoch for key share of instance skip locked)`;

/**
 * Returns the parameters of `ownedAmong`. If an instance has several epochs, the lowest one is used. An outdated write is then never stored under a newer
 * epoch.
 */
export const claimsOf = (rows: readonly Claim[]): readonly [ids: readonly string[], epochs: readonly number[]] => {
  const claims = new Map<string, number>();
  for (const { instanceId, epoch } of rows) claims.set(instanceId, Math.min(epoch, claims.get(instanceId) ?? epoch));
  return [[...claims.keys()], [...claims.values()]];
};

const ownershipStatements = {
  exist: { name: 'instances-exist', text: `select count(*)::int as count from instance where id = any($1::text[]) and not removed` },
} as const satisfies Readonly<Record<string, Statement>>;

export const exists = async (runner: Runner, id: string): Promise<boolean> => {
  const [row] = await runner.rows<{ count: number }>(ownershipStatements.exist, [[id]]);
  return row?.count !== 0;
};

/** Checks instances that were missing in `owned`. Throws `EpochLost` if one of them still exists, because its epoch has then changed. */
export const checkGone = async (runner: Runner, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  const [row] = await runner.rows<{ count: number }>(ownershipStatements.exist, [ids]);
  if (row?.count !== 0) throw lost();
};

/** Builds a statement that changes rows of an instance ($1) under its epoch ($2). `changed` must check `owned`, and return a row for each change. */
export const whileOwned = (name: string, changed: string): Statement => ({
  name,
  text: `with ${owned}, changed as (${changed}) select (select count(*)::int from owned) as owned, count(*)::int as count from changed`,
});

/** Runs a statement of `whileOwned`. Returns the number of changed rows. */
export const changeOwned = async (runner: Runner, statement: Statement, values: readonly unknown[]): Promise<number> => {
  const rows = await runner.rows<Owned & { readonly count: number }>(statement, values);
  checkOwned(rows);
  return rows[0]?.count ?? 0;
};
