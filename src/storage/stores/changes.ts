/** Changes of what every node remembers, found by their versions. */
import type { Change, ChangeStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const changeStatements = {
  latest: {
    name: 'change-latest',
    text: `select greatest((select max(changed) from instance), (select max(changed) from webhook), 0)::float8 as version`,
  },
  since: {
    name: 'change-since',
    text: `select 'instance' as kind, id, changed::float8 as version, removed from instance where changed > $1
      union all select 'webhook', id, changed::float8, removed from webhook where changed > $1 order by version`,
  },
  ids: {
    name: 'change-ids',
    text: `select 'instance' as kind, id from instance where not removed union all select 'webhook', id from webhook where not removed`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeChangeStore = (database: Database): ChangeStore => ({
  latest: async () => (await database.rows<{ version: number }>(changeStatements.latest, []))[0]?.version ?? 0,
  since: (version) => database.rows<Change>(changeStatements.since, [version]),
  async ids() {
    const rows = await database.rows<Pick<Change, 'kind' | 'id'>>(changeStatements.ids, []);
    const of = (kind: Change['kind']): readonly string[] => rows.filter((row) => row.kind === kind).map(({ id }) => id);
    return { instances: of('instance'), webhooks: of('webhook') };
  },
});
