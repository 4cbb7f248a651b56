/** Questions about stored groups: pages, one by its id, those that somebody is in. */
import type { GroupStore, KnownGroups, NamedGroup } from '#actors/ports.ts';
import { groupFields, groupFieldsWithoutMembers, groupOfRow, hashesOf, type GroupRow } from '../journal/group-rows.ts';
import type { Database, Statement } from '../postgres/database.ts';

const fits = `instance_id = $1 and ($2 = '' or name ilike $2 or group_id = $3)`;
const page = (fields: string): string => `select ${fields} from chat_group where ${fits} order by group_id limit $4 offset $5`;

export const groupStatements = {
  get: { name: 'group-get', text: `select ${groupFields} from chat_group where instance_id = $1 and group_id = $2` },
  /** $2 pattern of the name or '', $3 an id, $4 limit, $5 offset. */
  find: { name: 'group-find', text: page(groupFields) },
  findBrief: { name: 'group-find-brief', text: page(groupFieldsWithoutMembers) },
  count: { name: 'group-count', text: `select count(*)::int as total from chat_group where ${fits}` },
  /** $2 addresses. */
  common: {
    name: 'group-common',
    text: `select group_id as id, name from chat_group
      where instance_id = $1 and member_hashes && ${hashesOf('unnest($2::text[])')} order by group_id`,
  },
  listedAt: { name: 'group-listed-at', text: `select at::float8 as at from group_list where instance_id = $1 and at > 0` },
  known: {
    name: 'group-known',
    text: `with member as (
        select group_id as id, facts ->> 'parent' as parent, coalesce((facts ->> 'isDefaultSubgroup')::boolean, false) as is_default
        from chat_group where instance_id = $1 and facts ->> 'parent' <> '')
      select
      (select json_agg(json_build_object('id', id, 'parent', parent, 'isDefault', is_default)) from member) as memberships,
      (select json_agg(shown) from (
        select id, max(url) filter (where kind = 'image') as image, max(url) filter (where kind = 'preview') as preview
        from picture where instance_id = $1 and id = any(array(select parent from member)) group by id) as shown) as pictures,
      (select at::float8 from group_list where instance_id = $1 and at > 0) as "listedAt",
      coalesce(json_agg(group_id), '[]') as ids,
      coalesce(json_agg(name), '[]') as names from chat_group where instance_id = $1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Ids and names in the same order. A thousand of them as two arrays take the server a quarter of the time that it takes for as many objects. */
interface KnownRow {
  readonly listedAt: number | null;
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Null when no group belongs to a community. */
  readonly memberships: KnownGroups['memberships'] | null;
  readonly pictures: readonly { readonly id: string; readonly image: string | null; readonly preview: string | null }[] | null;
}

/** The text as part of a pattern. */
const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

export const makeGroupStore = (database: Database): GroupStore => ({
  async find(instance, { search, members, limit, offset }) {
    const given = [instance, search === '' ? '' : `%${escaped(search)}%`, search];
    const rows = await database.rows<GroupRow>(members ? groupStatements.find : groupStatements.findBrief, [...given, limit, offset]);
    const groups = rows.map(groupOfRow);
    // A first page that is not full has all of them.
    if (offset === 0 && groups.length < limit) return { groups, total: groups.length };
    return { groups, total: (await database.rows<{ total: number }>(groupStatements.count, given))[0]?.total ?? 0 };
  },
  async get(instance, groupId) {
    const [row] = await database.rows<GroupRow>(groupStatements.get, [instance, groupId]);
    return row ? groupOfRow(row) : null;
  },
  common: (instance, addresses) =>
    addresses.length === 0 ? Promise.resolve([]) : database.rows<NamedGroup>(groupStatements.common, [instance, addresses]),
  listedAt: async (instance) => (await database.rows<{ at: number }>(groupStatements.listedAt, [instance]))[0]?.at ?? null,
  async known(instance) {
    const [row] = await database.rows<KnownRow>(groupStatements.known, [instance]);
    if (row === undefined) return { listedAt: null, names: new Map(), memberships: [], pictures: [] };
    const names = new Map(row.ids.map((id, n) => [id, row.names[n] ?? '']));
    const pictures = (row.pictures ?? []).map(({ id, image, preview }) => ({ id, image: image ?? '', preview: preview ?? '' }));
    return { listedAt: row.listedAt, names, memberships: row.memberships ?? [], pictures };
  },
});
