/** Questions about stored chats: filters and sorting by the fields of the interface. */
import type { Chat } from '#actors/model.ts';
import type { ChatFilter, ChatQuery, ChatStore } from '#actors/ports.ts';
import { chatFields as interfaceFields, type FieldType } from '#src/contract/views.ts';
import { chatFields, columnOf } from '../journal/columns.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/texts.ts';

interface ChatColumn {
  readonly type: FieldType;
  /** Expression that is never null. Only these reach the text of a statement; values are parameters. */
  readonly sql: string;
}

/** Lead and chatbot fields stand in `extra`; what is absent there, or of another type, counts as empty. */
const extraSql: Readonly<Record<FieldType, (name: string) => string>> = {
  text: (name) => `coalesce(extra->>'${name}', '')`,
  number: (name) => `case when jsonb_typeof(extra->'${name}') = 'number' then (extra->>'${name}')::float8 else 0 end`,
  boolean: (name) => `coalesce(extra->'${name}' = 'true'::jsonb, false)`,
  list: (name) =>
    `case when jsonb_typeof(extra->'${name}') = 'array' then array(select jsonb_array_elements_text(extra->'${name}')) else '{}'::text[] end`,
};

export const chatColumns: ReadonlyMap<string, ChatColumn> = new Map([
  ...Object.entries(interfaceFields).map(
    ([name, { type, key }]) => [name, { type, sql: key === null ? extraSql[type](name) : columnOf(key) }] as const,
  ),
  ['owner', { type: 'text', sql: `(select owner from instance where instance.id = $1)` }] as const,
  [
    'wa_fastid',
    { type: 'text', sql: `((select owner from instance where instance.id = $1) || ':' || split_part(chat_id, '@', 1))` },
  ] as const,
]);

const columnFor = (field: string): ChatColumn => {
  const column = chatColumns.get(field);
  if (!column) throw new TypeError('a chat has no such field');
  return column;
};

/** Signs of PostgreSQL; `~` and `!~` are "contains" and its opposite. */
const comparisons = { '=': '=', '!=': '<>', '>=': '>=', '>': '>', '<=': '<=', '<': '<', '~': '~', '!~': '!~' } as const;

const containing = (value: string): string => `%${value.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

const isTrue = (value: ChatFilter['value']): boolean => value === true || ['true', '1'].includes(String(value).toLowerCase());

interface Condition {
  readonly sql: string;
  readonly value: unknown;
}

/** `$?` stands for the parameter. A value that is no number fits nothing. */
const conditionOf = ({ field, operator, value }: ChatFilter): Condition => {
  const { type, sql } = columnFor(field);
  const sign = comparisons[operator];
  const negative = operator === '!~' || operator === '!=';
  const text = String(value);
  if (type === 'boolean') return { sql: `${sql} ${negative ? '<>' : '='} $?::boolean`, value: isTrue(value) };
  if (type === 'number') {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isNaN(number)) return { sql: `$?::text is null`, value: '' };
    return { sql: `${sql} ${sign === '~' ? '=' : sign === '!~' ? '<>' : sign} $?::float8`, value: number };
  }
  const contains = sign === '~' || sign === '!~';
  if (type === 'list') {
    const found = contains ? `exists (select from unnest(${sql}) as one where one ilike $?)` : `$?::text = any(${sql})`;
    return { sql: negative ? `not ${found}` : found, value: contains ? containing(text) : text };
  }
  return contains
    ? { sql: `${sql} ${negative ? 'not ilike' : 'ilike'} $?`, value: containing(text) }
    : { sql: `${sql} ${sign} $?`, value: text };
};

const stats = {
  name: 'chat-stats',
  text: `select count(*)::int as total, count(*) filter (where unread_count > 0)::int as unread,
      count(*) filter (where archived)::int as archived, count(*) filter (where pinned)::int as pinned,
      count(*) filter (where blocked)::int as blocked, count(*) filter (where is_group)::int as groups,
      count(*) filter (where is_group and group_admin)::int as groups_admin,
      count(*) filter (where is_group and group_member)::int as groups_member,
      count(*) filter (where is_group and group_announce)::int as groups_announce
    from chat where instance_id = $1`,
} as const satisfies Statement;

export const chatStatements = {
  get: { name: 'chat-get', text: `select ${chatFields} from chat where instance_id = $1 and chat_id = $2` },
  stats,
} as const satisfies Readonly<Record<string, Statement>>;

/** Both have $1 for the instance; the page has $2 for the limit and $3 for the offset before the values. Too many shapes to be prepared. */
export const findStatements = (
  query: ChatQuery,
): { readonly page: Statement; readonly count: Statement; readonly values: readonly unknown[] } => {
  const conditions = query.filters.map(conditionOf);
  const where = (first: number): string => {
    const parts = conditions.map(({ sql }, at) => `(${sql.replace('$?', () => `$${first + at}`)})`);
    return ['instance_id = $1', ...(parts.length > 0 ? [`(${parts.join(query.any ? ' or ' : ' and ')})`] : [])].join(' and ');
  };
  const { field, descending } = query.sort ?? { field: 'wa_lastMsgTimestamp', descending: true };
  const direction = descending ? 'desc' : 'asc';
  return {
    page: {
      name: '',
      text: `select ${chatFields} from chat where ${where(4)} order by ${columnFor(field).sql} ${direction}, chat_id ${direction} limit $2 offset $3`,
    },
    count: { name: '', text: `select count(*)::int as total from chat where ${where(2)}` },
    values: conditions.map(({ value }) => value),
  };
};

export const makeChatStore = (database: Database): ChatStore => ({
  // A first page that is not full has counted everything already.
  async find(instance, query) {
    const { page, count, values } = findStatements(query);
    const chats = await database.rows<Chat>(page, [instance, query.limit, query.offset, ...values]);
    const whole = query.offset === 0 && chats.length < query.limit;
    if (whole) return { chats, total: chats.length };
    const [row] = await database.rows<{ total: number }>(count, [instance, ...values]);
    return { chats, total: row?.total ?? 0 };
  },
  get: async (instance, chatId) => (await database.rows<Chat>(chatStatements.get, [instance, keyText(chatId)]))[0] ?? null,
  async stats(instance) {
    const [row] = await database.rows<Record<string, number>>(chatStatements.stats, [instance]);
    return row ?? {};
  },
});
