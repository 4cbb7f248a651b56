/** The columns of messages and chats. The statements are generated from one list for each table. */
import type { Message } from '#actors/model.ts';
import { chatColumns as chatTable, type FieldType } from '#src/contract/views.ts';
import { jsonText } from '../postgres/parameters.ts';

type SqlType = 'text' | 'bigint' | 'boolean' | 'jsonb' | 'bytea' | 'text[]';

/** A row of the message table. It has two fields that `Message` lacks, and no `senderImage`. */
export interface StoredMessage extends Omit<Message, 'senderImage'> {
  readonly unread: boolean;
  readonly deletedAt: number;
}

const messageColumns: Readonly<Record<keyof StoredMessage, SqlType>> = {
  id: 'text',
  messageId: 'text',
  chatId: 'text',
  chatLid: 'text',
  sender: 'text',
  senderPn: 'text',
  senderLid: 'text',
  senderName: 'text',
  groupName: 'text',
  isGroup: 'boolean',
  fromMe: 'boolean',
  wasSentByApi: 'boolean',
  messageType: 'text',
  type: 'text',
  mediaType: 'text',
  source: 'text',
  timestamp: 'bigint',
  status: 'text',
  text: 'text',
  quoted: 'text',
  edited: 'text',
  reaction: 'text',
  vote: 'text',
  convertOptions: 'text',
  buttonOrListId: 'text',
  error: 'text',
  peer: 'jsonb',
  content: 'jsonb',
  sendFunction: 'text',
  sendPayload: 'jsonb',
  fileUrl: 'text',
  pinnedUntil: 'bigint',
  starred: 'boolean',
  trackSource: 'text',
  trackId: 'text',
  sendFolderId: 'text',
  sendPosition: 'bigint',
  audience: 'jsonb',
  aiMetadata: 'jsonb',
  post: 'jsonb',
  queuedSend: 'jsonb',
  raw: 'bytea',
  unread: 'boolean',
  deletedAt: 'bigint',
};

/** Columns of a message whose values are known only after its composition. */
export const composedColumns = {
  messageType: 'text',
  type: 'text',
  mediaType: 'text',
  text: 'text',
  quoted: 'text',
  convertOptions: 'text',
  content: 'jsonb',
  raw: 'bytea',
  audience: 'jsonb',
  post: 'jsonb',
  queuedSend: 'jsonb',
  edited: 'text',
  pinnedUntil: 'bigint',
  deletedAt: 'bigint',
} as const satisfies Partial<Record<keyof StoredMessage, SqlType>>;

/** Columns of a stored message that later events change, such as edits, deletions, pins, stars, receipts, steps of a call or views of a post. */
export const revisedColumns = {
  text: 'text',
  content: 'jsonb',
  convertOptions: 'text',
  edited: 'text',
  pinnedUntil: 'bigint',
  starred: 'boolean',
  deletedAt: 'bigint',
  status: 'text',
  error: 'text',
  unread: 'boolean',
  fileUrl: 'text',
  post: 'jsonb',
} as const satisfies Partial<Record<keyof StoredMessage, SqlType>>;

const typeOf: Readonly<Record<FieldType, SqlType>> = { text: 'text', number: 'bigint', boolean: 'boolean', list: 'text[]' };

const chatColumns: Readonly<Record<string, SqlType>> = {
  ...Object.fromEntries(Object.entries(chatTable).map(([key, type]) => [key, typeOf[type]])),
  extra: 'jsonb',
};

/** Returns the quoted column of a field: `lastMessageText` → `"last_message_text"`. */
export const columnOf = (field: string): string => `"${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

const listOf = (columns: Readonly<Record<string, SqlType>>, one: (field: string, type: SqlType) => string): string =>
  Object.entries(columns)
    .map(([field, type]) => one(field, type))
    .join(', ');

/** Selects the texts of a list without NULL, which a damaged row may contain. */
const textsOf = (column: string): string =>
  `case when ${column} = '{}' then ${column} else array(select one from unnest(${column}) as one where one is not null) end`;

/** Selects a field. A `bigint` is selected as a float, which the driver reads as a number. No count or time comes near 2^53. */
const selected = (field: string, type: SqlType): string => {
  const column = columnOf(field);
  return `${type === 'text[]' ? textsOf(column) : type === 'bigint' ? `${column}::float8` : column} as "${field}"`;
};

const without = <T extends object>(columns: T, names: readonly string[]): Readonly<Record<string, SqlType>> =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name)));

const plainMessage = without(messageColumns, ['unread', 'deletedAt']);

/** A select list whose rows have the type `Message`. */
export const messageFields = listOf(plainMessage, selected);
/** The fields of a message for display: all except `unread`, `deletedAt` and the encoded form. */
export const shownMessageFields = listOf(without(messageColumns, ['unread', 'deletedAt', 'raw']), selected);
/** A select list whose rows have the type `StoredMessage`, with `raw` null. */
export const storedMessageFields = `${listOf(without(messageColumns, ['raw']), selected)}, null as "raw"`;
export const chatFields = listOf(chatColumns, selected);

/**
 * Fields of a message in an archive. The queue data is left out, because a message must not be sent twice. The addresses of stored files and the
 * positions in campaigns are left out, because they mean nothing on another server.
 */
export const archivedMessageFields = listOf(without(messageColumns, ['queuedSend', 'fileUrl', 'sendFolderId', 'sendPosition']), selected);

/** The default values by type. */
const defaults: Readonly<Record<SqlType, unknown>> = { text: '', bigint: 0, boolean: false, jsonb: null, bytea: null, 'text[]': '[]' };
const inSql: Readonly<Record<SqlType, string | null>> = {
  text: `''`,
  bigint: '0',
  boolean: 'false',
  jsonb: null,
  bytea: null,
  'text[]': `'[]'`,
};

type Columns = Readonly<Record<string, SqlType>>;

/**
 * Returns the type in which a value is sent. Lists and JSON are sent as JSON text, because PostgreSQL requires the inner arrays of an array to have the same
 * length.
 */
const sentAs = (type: SqlType): string => (type === 'jsonb' || type === 'text[]' ? 'text' : type);

/** Returns SQL that converts a sent value into the type of its column. */
const received = (type: SqlType, sql: string): string => {
  if (type === 'text[]') return `array(select jsonb_array_elements_text(${sql}::jsonb))`;
  return type === 'jsonb' ? `${sql}::jsonb` : sql;
};

/** The form in which rows are sent. `many`: one array for each column. `one`: a single row as plain values, which cost PostgreSQL less. */
export type RowForm = 'many' | 'one';

type Unsaid = Readonly<Record<SqlType, unknown>>;

/**
 * Builds a row set of a single row, with the arguments and the result of `rowSet`. `offset 0` is an optimisation barrier. Without it the planner may choose an
 * index on another column, and read all rows of a chat for one message.
 */
const oneRow = (columns: Columns, first: number, unsaid: Unsaid) => {
  const fields = Object.entries(columns);
  const values = fields.map(([, type], at) => `$${first + at}::${sentAs(type)}`).join(', ');
  return {
    next: first + fields.length,
    columns: listOf(columns, columnOf),
    from: `(select ${values}, 1 where exists (select from owned) offset 0) as fresh (${listOf(columns, columnOf)}, position)`,
    array: (field: string) => `array[$${first + fields.findIndex(([name]) => name === field)}::text]`,
    parameters: ([row]: readonly object[]): readonly unknown[] =>
      fields.map(([field, type]) => {
        const value = (row as Readonly<Record<string, unknown>> | undefined)?.[field];
        const sent = value === undefined ? unsaid[type] : toParameter(value, type);
        return sent === unsaid[type] ? null : sent;
      }),
  };
};

/**
 * Builds a row set. `unsaid`: the value for a missing field. A column is sent as null if all its values are `unsaid`. The set is empty if `owned` of the
 * statement is empty, so a former owner of the instance writes nothing.
 */
const rowSet = (columns: Columns, first: number, unsaid: Unsaid, form: RowForm = 'many') => {
  if (form === 'one') return oneRow(columns, first, unsaid);
  const fields = Object.entries(columns);
  const arrays = fields.map(([, type], at) => `$${first + at}::${sentAs(type)}[]`).join(', ');
  return {
    next: first + fields.length,
    columns: listOf(columns, columnOf),
    from: `(select * from unnest(${arrays}) with ordinality where exists (select from owned)) as fresh (${listOf(columns, columnOf)}, position)`,
    /** Returns the array of one column for a filter with `any`. With a join alone, a wrong estimate may lead to a scan of all rows. */
    array: (field: string) => `$${first + fields.findIndex(([name]) => name === field)}::text[]`,
    parameters: (rows: readonly object[]): readonly unknown[] => {
      const sent = fields.map(([field, type]) => {
        const nothing = unsaid[type];
        const values = rows.map((row) => {
          const value = (row as Readonly<Record<string, unknown>>)[field];
          return value === undefined ? nothing : toParameter(value, type);
        });
        return { values, isSaid: values.some((one) => one !== nothing) };
      });
      // The statement derives the number of rows from the arrays, so at least one array is sent.
      const none = !sent.some(({ isSaid }) => isSaid);
      return sent.map(({ values, isSaid }, at) => (isSaid || (none && at === 0) ? values : null));
    },
  };
};

/**
 * Builds a set of rows as parameters: one array for each column, beginning with parameter `first`. PostgreSQL reads an array ten times faster than the
 * same values in JSON. Most columns of most rows are empty. A column without any value is sent as null, which saves a third of the cost of a commit in
 * this process.
 */
export const makeRowSet = (columns: Columns, first: number, form: RowForm = 'many') => {
  const value = (field: string): string => {
    const type = columns[field] ?? 'text';
    const sent = `fresh.${columnOf(field)}`;
    return received(type, inSql[type] === null ? sent : `coalesce(${sent}, ${inSql[type]})`);
  };
  return { ...rowSet(columns, first, defaults, form), value, values: listOf(columns, value) };
};

/** Inserts rows. $1: the instance. $2: its epoch. The order of the given rows becomes their order of arrival. */
const insertRows =
  (table: string, columns: Columns) =>
  (first: number, form: RowForm = 'many') => {
    const rows = makeRowSet(columns, first, form);
    return {
      ...rows,
      sql: `insert into ${table} (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from} order by position`,
    };
  };

export const messageRows = insertRows('message', messageColumns);
/** Inserts new chats. A conflict means that another transaction has inserted the chat. */
export const newChatRows = insertRows('chat', chatColumns);

const receiptTimes = ['deliveredAt', 'readAt', 'playedAt'] as const;

/** Upserts the receipts of members. The time of the first receipt stays. */
export const receiptRows = (first: number) => {
  const rows = makeRowSet(
    { messageId: 'text', member: 'text', memberPn: 'text', deliveredAt: 'bigint', readAt: 'bigint', playedAt: 'bigint' },
    first,
  );
  const times = receiptTimes
    .map(columnOf)
    .map((time) => `${time} = case when receipt.${time} = 0 then excluded.${time} else receipt.${time} end`);
  const sql = `insert into receipt (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, message_id, member) do update set ${times.join(', ')}`;
  return { ...rows, sql };
};

const noChange: typeof defaults = { text: null, bigint: null, boolean: null, jsonb: null, bytea: null, 'text[]': null };

const changedTo = (field: string, type: SqlType): string => {
  const [sent, kept] = [`fresh.${columnOf(field)}`, `chat.${columnOf(field)}`];
  switch (type) {
    case 'jsonb':
      return `case when ${sent} is null then ${kept} else jsonb_strip_nulls(${kept} || ${received(type, sent)}) end`;
    case 'text[]':
      return `case when ${sent} is null then ${kept} else ${received(type, sent)} end`;
    default:
      return `coalesce(${sent}, ${kept})`;
  }
};

const changeable = without(chatColumns, ['id', 'chatId']);

/**
 * Updates chats in part. $1: the instance. $2: its epoch. A field that is missing in a row keeps its stored value. A key of `extra` with null is
 * removed. `unreadAdded` is added to the stored count, so that a concurrent write outside the journal is not lost.
 */
export const chatChangeRows = (first: number, form: RowForm) => {
  const rows = rowSet({ chatId: 'text', ...changeable, unreadAdded: 'bigint' }, first, noChange, form);
  const added = (field: string): string => (field === 'unreadCount' ? ` + coalesce(fresh."unread_added", 0)` : '');
  const changes = listOf(changeable, (field, type) => `${columnOf(field)} = ${changedTo(field, type)}${added(field)}`);
  const sql = `update chat set ${changes} from ${rows.from}
    where chat.instance_id = $1 and chat.chat_id = any(${rows.array('chatId')}) and chat.chat_id = fresh.chat_id`;
  return { ...rows, sql };
};

/** Converts a value to the type of its column. A value of another type would make the statement fail, and block all later entries. */
const toParameter = (value: unknown, type: SqlType): unknown => {
  switch (type) {
    case 'text':
      return typeof value === 'string' ? value : '';
    case 'bigint':
      return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : 0;
    case 'boolean':
      return value === true;
    case 'bytea':
      return value ?? null;
    case 'text[]':
      return jsonText(Array.isArray(value) ? value : []);
    case 'jsonb':
      return value === null || value === undefined ? null : jsonText(value);
  }
};

// The rows of idempotency keys. They are written with the messages of a commit, or with a campaign.

/** Upserts the current state of idempotency keys. The row of a released key is replaced. */
export const sendKeyRows = (first: number) => {
  const rows = makeRowSet({ hash: 'text', request: 'text', messageId: 'text', at: 'bigint', answer: 'jsonb' }, first);
  const sql = `insert into send_key (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, hash) do update
    set request = excluded.request, message_id = excluded.message_id, at = excluded.at, answer = excluded.answer`;
  return { ...rows, sql };
};
