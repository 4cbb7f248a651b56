/** Filters of `/chat/find` as conditions of SQL. Only what stands here reaches the text of a statement; values are parameters. */
import type { ChatFilter } from '#actors/ports.ts';
import { chatFields, isWholeChatId, type FieldType } from '#src/contract/views.ts';
import { columnOf } from '../journal/columns.ts';
import { chatNames, isSameChat } from './same-chat.ts';

interface ChatColumn {
  readonly type: FieldType;
  /** Expression that is never null. */
  readonly sql: string;
}

/** Lead and chatbot fields are kept in `extra`; one that is absent there, or of another type, counts as empty. */
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

export const columnFor = (field: string): ChatColumn => {
  const column = chatColumns.get(field);
  if (!column) throw new TypeError('a chat has no such field');
  return column;
};

export interface Condition {
  /** `$?` stands for the parameter. */
  readonly sql: string;
  readonly value: unknown;
}

/** Signs of PostgreSQL; `~` and `!~` are "contains" and its opposite. */
const comparisons = { '=': '=', '!=': '<>', '>=': '>=', '>': '>', '<=': '<=', '<': '<', '~': '~', '!~': '!~' } as const;

const isNegative = ({ operator }: ChatFilter): boolean => operator === '!~' || operator === '!=';
const isContaining = ({ operator }: ChatFilter): boolean => operator === '~' || operator === '!~';
const isRange = ({ operator }: ChatFilter): boolean => operator.includes('<') || operator.includes('>');

const containing = (value: string): string => `%${value.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

/** A value that is no number fits nothing. */
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

/** A label is kept as `<owner>:<labelid>`, and is found by its bare id too. */
const labelEntry = `(one = $?::text or split_part(one, ':', 2) = $?::text)`;

const listCondition = (filter: ChatFilter, sql: string): Condition => {
  const text = String(filter.value);
  const entry = isContaining(filter) ? `one ilike $?` : filter.field === 'wa_label' ? labelEntry : `one = $?::text`;
  const found = `exists (select from unnest(${sql}) as one where ${entry})`;
  return { sql: isNegative(filter) ? `not ${found}` : found, value: isContaining(filter) ? containing(text) : text };
};

/** Fields that name a chat: a whole id is looked up in all its forms, by an index. */
const naming: ReadonlySet<string> = new Set(['wa_chatid', 'wa_chatlid', 'wa_fastid']);

/** Telephone numbers are compared by their digits, however they are written. */
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

export const conditionOf = (filter: ChatFilter): Condition => {
  const { type, sql } = columnFor(filter.field);
  return conditions[type](filter, sql);
};

/** The fields of the model, or names in `extra`, that an answer to the filters depends on; null when on more than the chats themselves. */
export const dependenciesOf = (filters: readonly ChatFilter[]): readonly string[] | null => {
  const fields = filters.map(({ field }) => (Object.hasOwn(chatFields, field) ? (chatFields[field]?.key ?? field) : null));
  if (fields.includes(null)) return null;
  const named = filters.some(({ field }) => naming.has(field)) ? ['chatLid'] : [];
  return [...fields.filter((field) => field !== null), ...named];
};
