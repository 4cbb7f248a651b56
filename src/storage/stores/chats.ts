/** Reads stored chats: pages by filters, one chat by any of its names, and counts. */
import type { Chat, ChatStats, KnownContact } from '#actors/model.ts';
import type { ChatFilter, ChatQuery, ChatStore, ChatTimer } from '#actors/ports.ts';
import { chatFields, chatIdsOf, type FieldType, isWholeChatId } from '#src/contract/views.ts';
import { type ChatCounts, chatStatsStatement, type CountedRow, statsOfRow } from '../journal/chat-counts.ts';
import { chatFields as selectedFields, columnOf } from '../journal/columns.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';

// One chat by any of its names. A person's messages may be stored under the phone number, under the LID, or under both, because the number may have become
// known later.

/** Returns all forms of a chat's name, as the parameter of `sameChatIds`. */
export const chatNames = (name: string): readonly string[] => chatIdsOf(name).map(keyText);

/**
 * Returns all forms of a chat's name, or only the id itself if the name is a complete id. Changes of a stored chat use these names. A person may have a second
 * chat under the other form of a Brazilian number, and that chat must not change.
 */
export const exactNames = (name: string): readonly string[] => {
  const [id, names] = [keyText(name), chatNames(name)];
  return names.includes(id) ? [id] : names;
};

/** Returns a query for all ids of a chat: the names in parameter `n`, and the other address of a stored chat. Each part of the union uses an index. */
export const sameChatIds = (n: number): string => `select unnest($${n}::text[]) as address
  union select chat.chat_id from chat where chat.instance_id = $1 and chat.chat_lid = any($${n}::text[]) and chat.chat_lid <> ''
  union select chat.chat_lid from chat where chat.instance_id = $1 and chat.chat_id = any($${n}::text[]) and chat.chat_lid <> ''`;

/** The condition that a chat has one of the given addresses. `$?` is a placeholder for the parameter. */
const isSameChat = `(chat_id = any($?::text[]) or (chat_lid = any($?::text[]) and chat_lid <> ''))`;

// Filters of `POST /chat/find` as SQL conditions. Only constants of this file become a part of a statement. Values are parameters.

interface ChatColumn {
  readonly type: FieldType;
  /** An expression that is never null. */
  readonly sql: string;
}

/** Expressions for lead and chatbot fields, which are stored in `extra`. A field that is missing or has another type counts as empty. */
const extraSql: Readonly<Record<FieldType, (name: string) => string>> = {
  text: (name) => `coalesce(extra->>'${name}', '')`,
  number: (name) => `case when jsonb_typeof(extra->'${name}') = 'number' then (extra->>'${name}')::float8 else 0 end`,
  boolean: (name) => `coalesce(extra->'${name}' = 'true'::jsonb, false)`,
  list: (name) =>
    `case when jsonb_typeof(extra->'${name}') = 'array' then array(select jsonb_array_elements_text(extra->'${name}')) else '{}'::text[] end`,
};

const owner = `(select owner from instance where instance.id = $1)`;

const chatColumns: ReadonlyMap<string, ChatColumn> = new Map([
  ...Object.entries(chatFields).map(
    ([name, { type, key }]) => [name, { type, sql: key === null ? extraSql[type](name) : columnOf(key) }] as const,
  ),
  ['owner', { type: 'text', sql: owner }] as const,
  ['wa_fastid', { type: 'text', sql: `(${owner} || ':' || split_part(chat_id, '@', 1))` }] as const,
]);

const columnFor = (field: string): ChatColumn => {
  const column = chatColumns.get(field);
  if (!column) throw new TypeError('a chat has no such field');
  return column;
};

export interface Condition {
  /** A condition with `$?` as the placeholder for the parameter. */
  readonly sql: string;
  readonly value: unknown;
}

/** The operators of filters with their SQL operators. `~` means "contains", and `!~` means "does not contain". */
const comparisons = { '=': '=', '!=': '<>', '>=': '>=', '>': '>', '<=': '<=', '<': '<', '~': '~', '!~': '!~' } as const;

const isNegative = ({ operator }: ChatFilter): boolean => operator === '!~' || operator === '!=';
const isContaining = ({ operator }: ChatFilter): boolean => operator === '~' || operator === '!~';
const isRange = ({ operator }: ChatFilter): boolean => operator.includes('<') || operator.includes('>');

const containing = (value: string): string => `%${value.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

/** Builds a condition on a number. A value that is not a number matches no chat. */
const numberCondition = ({ operator, value }: ChatFilter, sql: string): Condition => {
  const text = String(value).trim();
  const number = text === '' ? Number.NaN : Number(text);
  if (Number.isNaN(number)) return { sql: `$?::text is null`, value: '' };
  const sign = operator === '~' ? '=' : operator === '!~' ? '<>' : comparisons[operator];
  return { sql: `${sql} ${sign} $?::float8`, value: number };
};

const flagCondition = (filter: ChatFilter, sql: string): Condition => {
  const isTrue = filter.value === true || ['true', '1'].includes(String(filter.value).toLowerCase());
  return { sql: `${sql} ${isNegative(filter) ? '<>' : '='} $?::boolean`, value: isTrue };
};

/** Matches a label by its full id `<owner>:<labelid>` or by its bare id. */
const labelEntry = `(one = $?::text or split_part(one, ':', 2) = $?::text)`;

const listCondition = (filter: ChatFilter, sql: string): Condition => {
  const text = String(filter.value);
  const entry = isContaining(filter) ? `one ilike $?` : filter.field === 'wa_label' ? labelEntry : `one = $?::text`;
  const found = `exists (select from unnest(${sql}) as one where ${entry})`;
  return { sql: isNegative(filter) ? `not ${found}` : found, value: isContaining(filter) ? containing(text) : text };
};

/** Fields that name a chat. If a filter has a complete id, all forms of the id are looked up by an index. */
const naming: ReadonlySet<string> = new Set(['wa_chatid', 'wa_chatlid', 'wa_fastid']);

/** Returns SQL for the digits of a text, because telephone numbers are compared by their digits. */
const digitsOf = (sql: string): string => `regexp_replace(${sql}, '\\D', '', 'g')`;

const textCondition = (filter: ChatFilter, sql: string): Condition => {
  const text = String(filter.value);
  if (naming.has(filter.field) && !isRange(filter) && isWholeChatId(text)) {
    return { sql: isNegative(filter) ? `not ${isSameChat}` : isSameChat, value: chatNames(text) };
  }
  const isNumber = filter.field === 'phone' && !isRange(filter) && /\d/.test(text) && /^[+\d\s().-]+$/.test(text);
  const [left, right] = isNumber ? [digitsOf(sql), text.replaceAll(/\D/g, '')] : [sql, text];
  if (isContaining(filter)) return { sql: `${left} ${isNegative(filter) ? 'not ilike' : 'ilike'} $?`, value: containing(right) };
  return { sql: `${left} ${comparisons[filter.operator]} $?`, value: right };
};

const conditions: Readonly<Record<FieldType, (filter: ChatFilter, sql: string) => Condition>> = {
  text: textCondition,
  number: numberCondition,
  boolean: flagCondition,
  list: listCondition,
};

const conditionOf = (filter: ChatFilter): Condition => {
  const { type, sql } = columnFor(filter.field);
  return conditions[type](filter, sql);
};

/** Returns the fields of chats on which the result of the filters depends. Returns null if it also depends on other tables. */
const dependenciesOf = (filters: readonly ChatFilter[]): readonly string[] | null => {
  const fields = filters.map(({ field }) => (Object.hasOwn(chatFields, field) ? (chatFields[field]?.key ?? field) : null));
  if (fields.includes(null)) return null;
  const named = filters.some(({ field }) => naming.has(field)) ? ['chatLid'] : [];
  return [...fields.filter((field) => field !== null), ...named];
};

export const chatStatements = {
  /** Reads a chat by one of its names ($2). A match of the chat id comes before a match of the LID. */
  get: {
    name: 'chat-get',
    text: `select ${selectedFields} from chat where instance_id = $1 and ${isSameChat.replaceAll('$?', '$2')}
      order by array_position($2::text[], chat_id) nulls last limit 1`,
  },
  contacts: {
    name: 'chat-contacts',
    text: `(select chat_id as "chatId", chat_lid as "chatLid",
        case when contact_name <> '' or exists (
          select from contact where contact.instance_id = $1 and contact_id = chat_id and contact.name <> '') then 'named'
        when push_name <> '' then 'pushName' else 'number' end as known
      from chat where instance_id = $1 and not is_group and (chat_id like '%@s.whatsapp.net' or chat_id like '%@lid')
      order by last_message_timestamp desc, chat_id desc limit 20000)
      union all
      (select contact_id, lid, 'named' from contact where instance_id = $1 and name <> ''
        and not exists (select from chat where chat.instance_id = $1 and chat_id = contact_id)
      order by contact.name, contact_id limit 20000)`,
  },
  timers: {
    name: 'chat-timers',
    text: `select chat_id as "chatId", ephemeral_expiration::float8 as seconds
      from chat where instance_id = $1 and ephemeral_expiration > 0 and not is_group order by chat_id limit 20000`,
  },
  /** $2: the tag. $3: the last id of the previous page. $4: limit. */
  tagged: {
    name: 'chat-tagged',
    text: `select chat_id as "chatId" from chat
      where instance_id = $1 and extra -> 'lead_tags' is not null and extra -> 'lead_tags' @> to_jsonb($2::text) and chat_id > $3
      order by chat_id limit $4`,
  },
  stats: chatStatsStatement,
} as const satisfies Readonly<Record<string, Statement>>;

/**
 * Builds the statements for a page and for the number of chats. $1: instance. In the page, $2: limit and $3: offset. The values of the filters follow. The
 * statements are not prepared, because there are too many combinations of filters.
 */
export const findStatements = (
  query: ChatQuery,
): { readonly page: Statement; readonly count: Statement; readonly values: readonly unknown[] } => {
  const conditions = query.filters.map(conditionOf);
  const where = (first: number): string => {
    const parts = conditions.map(({ sql }, at) => `(${sql.replaceAll('$?', () => `$${first + at}`)})`);
    return ['instance_id = $1', ...(parts.length > 0 ? [`(${parts.join(query.any ? ' or ' : ' and ')})`] : [])].join(' and ');
  };
  const { field, descending } = query.sort ?? { field: 'wa_lastMsgTimestamp', descending: true };
  const direction = descending ? 'desc' : 'asc';
  return {
    page: {
      name: '',
      text: `select ${selectedFields} from chat where ${where(4)} order by ${columnFor(field).sql} ${direction}, chat_id ${direction} limit $2 offset $3`,
    },
    count: { name: '', text: `select count(*)::int as total from chat where ${where(2)}` },
    values: conditions.map(({ value }) => value),
  };
};

export const createChatStore = (database: Database, counts: ChatCounts): ChatStore => {
  const stats = (instance: string): Promise<ChatStats> =>
    counts.stats(instance, async () => statsOfRow((await database.rows<CountedRow>(chatStatements.stats, [instance]))[0]!));

  const total = async (instance: string, query: ChatQuery): Promise<number> => {
    if (query.filters.length === 0) return (await stats(instance)).kinds.all.total;
    const { count, values } = findStatements(query);
    const fields = dependenciesOf(query.filters);
    const ask = async (): Promise<number> => (await database.rows<{ total: number }>(count, [instance, ...values]))[0]?.total ?? 0;
    return fields === null ? ask() : counts.total(instance, JSON.stringify([count.text, values]), fields, ask);
  };

  return {
    async find(instance, query) {
      const { page, values } = findStatements(query);
      const chats = await database.rows<Chat>(page, [instance, query.limit, query.offset, ...values]);
      // A first page that is not full contains all matches.
      const isWhole = query.offset === 0 && chats.length < query.limit;
      return { chats, total: isWhole ? chats.length : await total(instance, query) };
    },
    get: async (instance, name) => (await database.rows<Chat>(chatStatements.get, [instance, chatNames(name)]))[0] ?? null,
    async tagged(instance, tag, after, limit) {
      const rows = await database.rows<{ chatId: string }>(chatStatements.tagged, [instance, tag, after, limit]);
      return rows.map(({ chatId }) => chatId);
    },
    timers: (instance) => database.rows<ChatTimer>(chatStatements.timers, [instance]),
    contacts: (instance) => database.rows<KnownContact>(chatStatements.contacts, [instance]),
    stats,
  };
};
