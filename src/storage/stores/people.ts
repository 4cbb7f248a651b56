/** Stores of the address book, of groups, of the platform's answers about numbers and pictures, and of definitions such as labels. */
import type { Contact, ContactScope, DefinitionKind, Definitions, Kept, LookedPicture } from '#actors/model.ts';
import type {
  ContactStore,
  DefinitionStore,
  GroupStore,
  KnownGroups,
  NamedGroup,
  PictureStore,
  RecipientStore,
  StoredRecipient,
} from '#actors/ports.ts';
import { contactFields, groupFields, groupFieldsWithoutMembers, groupOfRow, type GroupRow, hashesOf } from '../journal/people.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { type Opener, sealedIdOf } from '../vault/sealing.ts';
import { expireRows, expireStatement } from './expiry.ts';

// The address book: pages, counts, and one contact by its ids.

/** The condition and the order of each scope. An index that begins with the instance serves both. */
const scopes: Readonly<Record<ContactScope, readonly [where: string, order: string]>> = {
  address_book: [`name <> ''`, 'name, contact_id'],
  outside_address_book: [`name = ''`, 'contact_id'],
  all: ['true', 'contact_id'],
};

/** Builds the query of a page. $1: instance. $2: limit. $3: offset. */
const pageOf = (scope: ContactScope): Statement => {
  const [where, order] = scopes[scope];
  return {
    name: `contact-page-${scope}`,
    text: `select ${contactFields} from contact where instance_id = $1 and ${where} order by ${order} limit $2 offset $3`,
  };
};

export const contactStatements = {
  address_book: pageOf('address_book'),
  outside_address_book: pageOf('outside_address_book'),
  all: pageOf('all'),
  counts: {
    name: 'contact-counts',
    text: `select count(*)::int as "all", count(*) filter (where name <> '')::int as address_book from contact where instance_id = $1`,
  },
  /** $2: the ids of a person. Reads the contact of the first id that has a name in the address book. */
  saved: {
    name: 'contact-saved',
    text: `select ${contactFields} from contact where instance_id = $1 and contact_id = any($2::text[]) and name <> ''
      order by array_position($2::text[], contact_id) limit 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Counts {
  readonly all: number;
  readonly address_book: number;
}

export const createContactStore = (database: Database): ContactStore => ({
  async list(instance, { scope, limit, offset }) {
    const [contacts, [counts]] = await Promise.all([
      database.rows<Contact>(contactStatements[scope], [instance, limit, offset]),
      database.rows<Counts>(contactStatements.counts, [instance]),
    ]);
    const { all = 0, address_book: saved = 0 } = counts ?? {};
    const total = { all, address_book: saved, outside_address_book: all - saved }[scope];
    return { contacts, total, saved };
  },
  saved: async (instance, ids) => (await database.rows<Contact>(contactStatements.saved, [instance, ids.map(keyText)]))[0] ?? null,
});

// Stored groups: pages, one group by its id, and the groups of a member.

const fits = `instance_id = $1 and ($2 = '' or name ilike $2 or group_id = $3)`;
const page = (fields: string): string => `select ${fields} from chat_group where ${fits} order by group_id limit $4 offset $5`;

export const groupStatements = {
  get: { name: 'group-get', text: `select ${groupFields} from chat_group where instance_id = $1 and group_id = $2` },
  /** $2: pattern of the name, or '' for all groups. $3: an id. $4: limit. $5: offset. */
  find: { name: 'group-find', text: page(groupFields) },
  findBrief: { name: 'group-find-brief', text: page(groupFieldsWithoutMembers) },
  count: { name: 'group-count', text: `select count(*)::int as total from chat_group where ${fits}` },
  /** $2: addresses of one member. */
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

/** All known groups, with ids and names in the same order. PostgreSQL builds two arrays in a quarter of the time that it takes for one array of objects. */
interface KnownRow {
  readonly listedAt: number | null;
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Null if no group belongs to a community. */
  readonly memberships: KnownGroups['memberships'] | null;
  readonly pictures: readonly { readonly id: string; readonly image: string | null; readonly preview: string | null }[] | null;
}

/** Escapes a text for a pattern of `ilike`. */
const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

export const createGroupStore = (database: Database): GroupStore => ({
  async find(instance, { search, members, limit, offset }) {
    const given = [instance, search === '' ? '' : `%${escaped(search)}%`, search];
    const rows = await database.rows<GroupRow>(members ? groupStatements.find : groupStatements.findBrief, [...given, limit, offset]);
    const groups = rows.map(groupOfRow);
    // A first page that is not full contains all matches.
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

// Known numbers: numbers that exchanged messages with the account, and the platform's answers to look-ups.

type Found = StoredRecipient & { readonly number: number };

export const recipientStatements = {
  /**
   * $2: all chat ids that the numbers may have. $3: the index of the number to which each of these chat ids belongs. $4: the oldest accepted time of a look-up.
   * $5: the oldest accepted time of a look-up that found no account.
   */
  find: {
    name: 'recipient-find',
    text: `with form as (select * from unnest($2::text[], $3::int[]) with ordinality as form (id, number, position)),
      met as (
        select form.number, form.id as chat_id, null::float8 as at, form.position, lookup.business_name from form
        left join number_lookup as lookup on lookup.instance_id = $1 and lookup.form = form.id
        where exists (
          select from message where instance_id = $1 and chat_id = form.id and (not from_me or status in ('Delivered', 'Read', 'Played')))),
      asked as (
        select form.number, lookup.chat_id, lookup.at::float8 as at, 100000 + form.position as position, lookup.business_name from form
        join number_lookup as lookup on lookup.instance_id = $1 and lookup.form = form.id
        where lookup.at >= case when lookup.chat_id = '' then $5::bigint else $4::bigint end)
      select distinct on (number) number, chat_id as "chatId", at, business_name as "businessName"
      from (select * from met union all select * from asked) as known order by number, position`,
  },
  /**
   * $1: instance. $2: epoch. $3: chat ids that were looked up. $4: the chat ids of the accounts; '' without an account. $5: names of businesses. $6: the time
   * of the look-up.
   */
  save: {
    name: 'recipient-save',
    text: `with ${owned},
      saved as (
        insert into number_lookup (instance_id, form, chat_id, business_name, at)
        select $1, fresh.form, fresh.chat_id, fresh.business_name, $6
        from unnest($3::text[], $4::text[], $5::text[]) as fresh (form, chat_id, business_name) where exists (select from owned)
        on conflict (instance_id, form) do update set chat_id = excluded.chat_id, business_name = excluded.business_name, at = excluded.at)
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('recipient-expire', 'number_lookup'),
} as const satisfies Readonly<Record<string, Statement>>;

export const createRecipientStore = (database: Database): RecipientStore => ({
  async find(instance, numbers, { knownSince, absentSince }) {
    const forms = numbers.flat();
    const owners = numbers.flatMap((all, number) => all.map(() => number));
    const rows = await database.rows<Found>(recipientStatements.find, [instance, forms, owners, knownSince, absentSince]);
    const found = new Map(rows.map(({ number, ...recipient }) => [number, recipient]));
    return numbers.map((_forms, number) => found.get(number) ?? null);
  },
  async save({ instanceId, epoch }, forms, at) {
    const columns = [forms.map(({ form }) => form), forms.map(({ chatId }) => chatId), forms.map(({ businessName }) => businessName ?? '')];
    checkOwned(await database.rows<Owned>(recipientStatements.save, [instanceId, epoch, ...columns, at]));
  },
  expire: expireRows(database, recipientStatements.expire),
});

// The platform's answers about pictures of people and groups.

export const pictureStatements = {
  find: {
    name: 'picture-find',
    text: `select id, kind, state, url, at::float8 as at from picture where instance_id = $1 and id = any($2::text[])`,
  },
  /** $1: instance. $2: epoch. */
  save: {
    name: 'picture-save',
    text: `with ${owned},
      saved as (
        insert into picture (instance_id, id, kind, state, url, at) select $1, $3, $4, $5, $6, $7 where exists (select from owned)
        on conflict (instance_id, id, kind) do update set state = excluded.state, url = excluded.url, at = excluded.at)
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('picture-expire', 'picture'),
} as const satisfies Readonly<Record<string, Statement>>;

export const createPictureStore = (database: Database): PictureStore => ({
  find: (instance, ids) => database.rows<LookedPicture>(pictureStatements.find, [instance, ids]),
  async save({ instanceId, epoch }, { id, kind, state, url, at }) {
    checkOwned(await database.rows<Owned>(pictureStatements.save, [instanceId, epoch, id, kind, state, url, at]));
  },
  expire: expireRows(database, pictureStatements.expire),
});

// Definitions of an instance, such as labels, quick replies and lead tags.

export const definitionStatements = {
  all: {
    name: 'definition-all',
    text: `select id, value, created::float8 as created, updated::float8 as updated from definition
      where instance_id = $1 and kind = $2 order by created, id`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Row {
  readonly id: string;
  readonly value: unknown;
  readonly created: number;
  readonly updated: number;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks for some kinds. A definition that fails the check of its kind would make every list of definitions of this kind fail. */
const vital: Readonly<Partial<Record<DefinitionKind, (value: Readonly<Record<string, unknown>>) => boolean>>> = {
  chatbotAgent: ({ tools, media }) => Array.isArray(tools) && Array.isArray(media),
  chatbotTrigger: ({ words }) => typeof words === 'string',
  channel: ({ name, description }) => isObject(name) && isObject(description),
};

const isDefinition = <K extends DefinitionKind>(value: unknown, of: K): value is Definitions[K] =>
  isObject(value) && (vital[of]?.(value) ?? true);

/** Creates the store. A damaged definition is left out and reported through `opener`, so that the other definitions can be read. */
export const createDefinitionStore = (database: Database, opener: Pick<Opener, 'report'>): DefinitionStore => ({
  async all<K extends DefinitionKind>(instance: string, of: K) {
    const rows = await database.rows<Row>(definitionStatements.all, [instance, of]);
    return rows.flatMap(({ id, value, created, updated }) => {
      if (isDefinition(value, of)) return [{ ...value, created, updated } satisfies Kept<K>];
      opener.report(sealedIdOf('definition', instance, of, id), { id: instance, field: `definition ${of} ${id}` });
      return [];
    });
  },
});
