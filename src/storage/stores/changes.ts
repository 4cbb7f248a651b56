/** Changes of what every node remembers, found by their versions. */
import type { Change, ChangeLook, ChangeStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const changeStatements = {
  /** A sequence that nobody has used has a last value all the same. */
  since: {
    name: 'change-since',
    text: `with look as materialized (
        select (last_value - case when is_called then 0 else 1 end)::float8 as latest,
          pg_snapshot_xmin(pg_current_snapshot())::text::float8 as oldest, pg_snapshot_xmax(pg_current_snapshot())::text::float8 as next
        from change_version),
      found as (
        select 'instance' as kind, id, changed::float8 as version, removed from instance where changed > $1
        union all select 'webhook', id, changed::float8, removed from webhook where changed > $1)
      select look.*, found.* from look left join found on true order by version`,
  },
  ids: {
    name: 'change-ids',
    text: `select 'instance' as kind, id from instance where not removed union all select 'webhook', id from webhook where not removed`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

type LookRow = Omit<ChangeLook, 'changes'> & (Change | { readonly kind: null });

export const makeChangeStore = (database: Database): ChangeStore => ({
  async since(version) {
    const rows = await database.rows<LookRow>(changeStatements.since, [version]);
    const { latest = 0, oldest = 0, next = 0 } = rows[0] ?? {};
    const changes = rows.flatMap((row) =>
      row.kind === null ? [] : [{ kind: row.kind, id: row.id, version: row.version, removed: row.removed }],
    );
    return { changes, latest, oldest, next };
  },
  async ids() {
    const rows = await database.rows<Pick<Change, 'kind' | 'id'>>(changeStatements.ids, []);
    const of = (kind: Change['kind']): readonly string[] => rows.filter((row) => row.kind === kind).map(({ id }) => id);
    return { instances: of('instance'), webhooks: of('webhook') };
  },
});
