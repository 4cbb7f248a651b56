/** The audit log: written in batches, read in pages, bounded by age and by number. */
import type { AuditEntry, AuditQuery } from '#actors/model.ts';
import type { AuditStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

const fields = `id::float8 as id, at::float8 as at, actor, who, address, method, route, instance_id as instance, subject, status`;

/** The conditions of a page with their casts. The order fixes the numbers of the values. */
const conditions = {
  who: 'who = $%::text',
  actor: 'actor = $%::text',
  instance: 'instance_id = $%::text',
  from: 'at >= $%::bigint',
  to: 'at < $%::bigint',
  before: 'id < $%::bigint',
} as const satisfies Partial<Record<keyof AuditQuery, string>>;

type Filter = keyof typeof conditions;

const filters = Object.keys(conditions) as readonly Filter[];

/** The statement of a page with these filters. $1: how many. */
const pageStatement = (used: readonly Filter[]): Statement => {
  const where = used.map((name, at) => conditions[name].replace('%', String(at + 2)));
  return {
    name: `audit-page-${used.join('-')}`,
    text: `select ${fields} from audit_entry${where.length === 0 ? '' : ` where ${where.join(' and ')}`} order by audit_entry.id desc limit $1`,
  };
};

/** The oldest entries beyond the bound $2, of one of the two kinds. */
const beyond = (ofToken: boolean): string => `(select id from audit_entry where of_token = ${ofToken} and id <= (
        select id from audit_entry where of_token = ${ofToken} order by id desc offset $2::int limit 1) order by id limit $3::int)`;

export const auditStatements = {
  add: {
    name: 'audit-add',
    text: `insert into audit_entry (at, actor, of_token, who, address, method, route, instance_id, subject, status)
      select at, actor, actor in ('instanceToken', 'passkeyCode'), who, address, method, route, instance_id, subject, status
      from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[])
        with ordinality as note (at, actor, who, address, method, route, instance_id, subject, status, place) order by place`,
  },
  page: pageStatement([]),
  pageOfInstance: pageStatement(['instance', 'before']),
  /** $1: Unix milliseconds. $2: entries of each kind that are kept. $3: how many are removed at once. */
  expire: {
    name: 'audit-expire',
    text: `with old as (
        (select id from audit_entry where at < $1::bigint order by at limit $3::int)
        union ${beyond(false)}
        union ${beyond(true)}
        limit $3::int)
      delete from audit_entry using old where audit_entry.id = old.id returning 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeAuditStore = (database: Database): AuditStore => ({
  async add(notes) {
    const columns = [
      notes.map(({ at }) => at),
      notes.map(({ actor }) => actor),
      notes.map(({ who }) => who),
      notes.map(({ address }) => address),
      notes.map(({ method }) => method),
      notes.map(({ route }) => route),
      notes.map(({ instance }) => instance),
      notes.map(({ subject }) => subject),
      notes.map(({ status }) => status),
    ];
    await database.rows(auditStatements.add, columns);
  },
  async find(query) {
    const used = filters.filter((name) => query[name] !== undefined);
    const values = [query.limit + 1, ...used.map((name) => query[name])];
    const rows = await database.rows<AuditEntry>(pageStatement(used), values);
    const entries = rows.slice(0, query.limit);
    return { entries, next: rows.length > query.limit ? (entries.at(-1)?.id ?? null) : null };
  },
  expire: async (before, most, limit) => (await database.rows(auditStatements.expire, [before, most, limit])).length,
});
