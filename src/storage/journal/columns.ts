/** The columns of messages and chats: one list for each table, from which the statements are made. */
import type { Message } from '#actors/model.ts';
import { chatColumns as chatTable, type FieldType } from '#src/contract/views.ts';
import { jsonText } from '../postgres/parameters.ts';

type SqlType = 'text' | 'bigint' | 'boolean' | 'jsonb' | 'bytea' | 'text[]';

/** A row of the message table, with fields beyond the record. */
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

/** Columns of a message that are known only when it is composed. */
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

/** Columns of a stored message that later events change: edits, deletions, pins, stars and receipts, steps of a call, views of a post. */
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

/** The column of a field, quoted: `lastMessageText` → `"last_message_text"`. */
export const columnOf = (field: string): string => `"${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

const listOf = (columns: Readonly<Record<string, SqlType>>, one: (field: string, type: SqlType) => string): string =>
  Object.entries(columns)
    .map(([field, type]) => one(field, type))
    .join(', ');

/** The texts of a list. A damaged row may hold NULL or lists among them. */
const textsOf = (column: string): string =>
  `case when ${column} = '{}' then ${column} else array(select one from unnest(${column}) as one where one is not null) end`;

/** Numbers leave as floats, which the driver reads as numbers. No count or time comes near 2^53. */
const selected = (field: string, type: SqlType): string => {
  const column = columnOf(field);
  return `${type === 'text[]' ? textsOf(column) : type === 'bigint' ? `${column}::float8` : column} as "${field}"`;
};

const without = <T extends object>(columns: T, names: readonly string[]): Readonly<Record<string, SqlType>> =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name)));

const plainMessage = without(messageColumns, ['unread', 'deletedAt']);

/** Select lists whose rows are `Message`, `StoredMessage` (with `raw` null) and `Chat`. */
export const messageFields = listOf(plainMessage, selected);
/** The fields of a message that is only shown: all but its encoded form. */
export const shownMessageFields = listOf(without(messageColumns, ['unread', 'deletedAt', 'raw']), selected);
export const storedMessageFields = `${listOf(without(messageColumns, ['raw']), selected)}, null as "raw"`;
export const chatFields = listOf(chatColumns, selected);

/**
 * Fields of a message in an archive. The data of the send queue stays behind, as a message must not be sent twice. Addresses of stored files and the
 * places in campaigns mean nothing on another server.
 */
export const archivedMessageFields = listOf(without(messageColumns, ['queuedSend', 'fileUrl', 'sendFolderId', 'sendPosition']), selected);

/** The value of a column where nothing is known; null where null is no value. */
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

/** Lists and JSON travel as JSON text, since an array of arrays would need lists of one length. */
const sentAs = (type: SqlType): string => (type === 'jsonb' || type === 'text[]' ? 'text' : type);

/** Converts a sent value into the value of its column. */
const received = (type: SqlType, sql: string): string => {
  if (type === 'text[]') return `array(select jsonb_array_elements_text(${sql}::jsonb))`;
  return type === 'jsonb' ? `${sql}::jsonb` : sql;
};

/** The form in which rows are sent: any number of them as one array for each column, or a single one as plain values, which cost the server less. */
export type RowForm = 'many' | 'one';

type Unsaid = Readonly<Record<SqlType, unknown>>;

/**
 * A single row. The arguments and the result are those of `rowSet`. `offset 0` keeps the row apart from the rest of the statement: the planner would
 * otherwise look for its rows by whichever of the values an index has, and read all rows of a chat for one message.
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
 * `unsaid`: what a field without a value is sent as, and what a column is not sent for when no row has anything else. There are no rows when `owned`
 * of the statement has none: a former owner of the instance writes nothing.
 */
const rowSet = (columns: Columns, first: number, unsaid: Unsaid, form: RowForm = 'many') => {
  if (form === 'one') return oneRow(columns, first, unsaid);
  const fields = Object.entries(columns);
  const arrays = fields.map(([, type], at) => `$${first + at}::${sentAs(type)}[]`).join(', ');
  return {
    next: first + fields.length,
    columns: listOf(columns, columnOf),
    from: `(select * from unnest(${arrays}) with ordinality where exists (select from owned)) as fresh (${listOf(columns, columnOf)}, position)`,
    /** Returns the array of one column for a filter with `any`. The estimate of a join may lead to a scan of all rows. */
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
      // Without any column there would be no rows at all.
      const none = !sent.some(({ isSaid }) => isSaid);
      return sent.map(({ values, isSaid }, at) => (isSaid || (none && at === 0) ? values : null));
    },
  };
};

/**
 * A set of rows as parameters: one array for each column, beginning with parameter `first`. An array is read ten times faster than the same values in
 * JSON. Most columns of most rows are empty. A column without any value is not written at all, which saves a third of the cost of a commit on this
 * side.
 */
export const makeRowSet = (columns: Columns, first: number, form: RowForm = 'many') => {
  const value = (field: string): string => {
    const type = columns[field] ?? 'text';
    const sent = `fresh.${columnOf(field)}`;
    return received(type, inSql[type] === null ? sent : `coalesce(${sent}, ${inSql[type]})`);
  };
  return { ...rowSet(columns, first, defaults, form), value, values: listOf(columns, value) };
};

/** Inserts; $1 is the instance, $2 its epoch. Rows get their order of arrival from the order in which they are given. */
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
/** A conflict means that another transaction has made the chat. */
export const newChatRows = insertRows('chat', chatColumns);

const receiptTimes = ['deliveredAt', 'readAt', 'playedAt'] as const;

/** The confirmations of members. The time of the first confirmation stays. */
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
 * Partial updates of chats. $1 is the instance, $2 its epoch. A field that is missing in a row keeps its stored value. A null key of `extra` is removed.
 * `unreadAdded` is added to the stored count. So a write beside the journal is kept.
 */
export const chatChangeRows = (first: number, form: RowForm) => {
  const rows = rowSet({ chatId: 'text', ...changeable, unreadAdded: 'bigint' }, first, noChange, form);
  const added = (field: string): string => (field === 'unreadCount' ? ` + coalesce(fresh."unread_added", 0)` : '');
  const changes = listOf(changeable, (field, type) => `${columnOf(field)} = ${changedTo(field, type)}${added(field)}`);
  const sql = `update chat set ${changes} from ${rows.from}
    where chat.instance_id = $1 and chat.chat_id = any(${rows.array('chatId')}) and chat.chat_id = fresh.chat_id`;
  return { ...rows, sql };
};

/** Every value gets the type of its column, because one broken value would block all later entries. */
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

// The rows of keys under which sends and campaigns are repeated: written with the messages of a commit, or with a campaign.

/** Keys as they stand now. The row of a key that was set free is replaced. */
export const sendKeyRows = (first: number) => {
  const rows = makeRowSet({ hash: 'text', request: 'text', messageId: 'text', at: 'bigint', answer: 'jsonb' }, first);
  const sql = `insert into send_key (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}
    on conflict (instance_id, hash) do update
    set request = excluded.request, message_id = excluded.message_id, at = excluded.at, answer = excluded.answer`;
  return { ...rows, sql };
};
