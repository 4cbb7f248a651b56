/** How messages and chats stand in their tables: one list of columns each, from which the statements are made. */
import type { Chat, Message } from '#actors/model.ts';
import { jsonText } from '../postgres/texts.ts';

type SqlType = 'text' | 'bigint' | 'boolean' | 'jsonb' | 'bytea' | 'text[]';

/** What the message table knows beyond the record. */
export interface StoredMessage extends Message {
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
  content: 'jsonb',
  sendFunction: 'text',
  sendPayload: 'jsonb',
  fileUrl: 'text',
  trackSource: 'text',
  trackId: 'text',
  raw: 'bytea',
  unread: 'boolean',
  deletedAt: 'bigint',
};

const chatColumns: Readonly<Record<keyof Chat, SqlType>> = {
  id: 'text',
  chatId: 'text',
  chatLid: 'text',
  isGroup: 'boolean',
  phone: 'text',
  name: 'text',
  contactName: 'text',
  pushName: 'text',
  image: 'text',
  imagePreview: 'text',
  archived: 'boolean',
  blocked: 'boolean',
  pinned: 'boolean',
  groupAdmin: 'boolean',
  groupAnnounce: 'boolean',
  groupCommunity: 'boolean',
  groupMember: 'boolean',
  ephemeralExpiration: 'bigint',
  muteEndTime: 'bigint',
  labels: 'text[]',
  notes: 'text',
  unreadCount: 'bigint',
  lastMessageText: 'text',
  lastMessageType: 'text',
  lastMessageSender: 'text',
  lastMessageTimestamp: 'bigint',
  extra: 'jsonb',
};

/** The column of a field, quoted: `lastMessageText` → `"last_message_text"`. */
export const columnOf = (field: string): string => `"${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

const listOf = (columns: Readonly<Record<string, SqlType>>, one: (field: string, type: SqlType) => string): string =>
  Object.entries(columns)
    .map(([field, type]) => one(field, type))
    .join(', ');

/** Numbers leave as floats, which the driver reads as numbers: no count or time comes near 2^53. */
const selected = (field: string, type: SqlType): string => `${columnOf(field)}${type === 'bigint' ? '::float8' : ''} as "${field}"`;

const without = <T extends object>(columns: T, names: readonly string[]): Readonly<Record<string, SqlType>> =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name)));

const plainMessage = without(messageColumns, ['unread', 'deletedAt']);

/** Select lists whose rows are `Message`, `StoredMessage` (with `raw` null) and `Chat`. */
export const messageFields = listOf(plainMessage, selected);
export const storedMessageFields = `${listOf(without(messageColumns, ['raw']), selected)}, null as "raw"`;
export const chatFields = listOf(chatColumns, selected);

/** What a column holds where nothing is known; null where that is no value. */
const defaults: Readonly<Record<SqlType, unknown>> = { text: '', bigint: 0, boolean: false, jsonb: null, bytea: null, 'text[]': '[]' };
const inSql: Readonly<Record<SqlType, string | null>> = {
  text: `''`,
  bigint: '0',
  boolean: 'false',
  jsonb: null,
  bytea: null,
  'text[]': `'[]'`,
};

/**
 * A set of rows as parameters: one array for each column, beginning with parameter `first`. An array is read ten times faster than the same
 * values in JSON. What has no array of its own travels as JSON text. Most columns of most rows hold nothing, so that a column without any value
 * is not written at all (a third of what a commit costs on this side). There are no rows when `owned` of the statement has none: whoever lost the
 * instance writes nothing.
 */
export const makeRowSet = (columns: Readonly<Record<string, SqlType>>, first: number) => {
  const fields = Object.entries(columns);
  const value = (field: string): string => {
    const type = columns[field] ?? 'text';
    const plain = `fresh.${columnOf(field)}`;
    const given = inSql[type] === null ? plain : `coalesce(${plain}, ${inSql[type]})`;
    if (type === 'text[]') return `array(select jsonb_array_elements_text(${given}::jsonb))`;
    return type === 'jsonb' ? `${given}::jsonb` : given;
  };
  const arrays = fields.map(([, type], at) => `$${first + at}::${type === 'jsonb' || type === 'text[]' ? 'text' : type}[]`).join(', ');
  return {
    next: first + fields.length,
    columns: listOf(columns, columnOf),
    value,
    values: listOf(columns, value),
    from: `(select * from unnest(${arrays}) with ordinality where exists (select from owned)) as fresh (${listOf(columns, columnOf)}, position)`,
    /** The array of one column, to be asked for by `any`: an estimate of a join alone may lead to a scan of all rows. */
    array: (field: string) => `$${first + fields.findIndex(([name]) => name === field)}::text[]`,
    parameters: (rows: readonly object[]): readonly (readonly unknown[] | null)[] =>
      fields.map(([field, type]) => {
        const values = rows.map((row) => toParameter((row as Readonly<Record<string, unknown>>)[field], type));
        return values.every((one) => one === defaults[type]) ? null : values;
      }),
  };
};

/** Inserts; $1 is the instance, $2 its epoch. Messages get their order of arrival from the order of the rows. */
export const messageRows = (first: number) => {
  const rows = makeRowSet(messageColumns, first);
  return {
    ...rows,
    sql: `insert into message (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from} order by position`,
  };
};

const replaced = listOf(without(chatColumns, ['id', 'chatId']), (field) => `${columnOf(field)} = excluded.${columnOf(field)}`);

export const chatRows = (first: number) => {
  const rows = makeRowSet(chatColumns, first);
  const insert = `insert into chat (instance_id, ${rows.columns}) select $1, ${rows.values} from ${rows.from}`;
  return { ...rows, sql: `${insert} on conflict (instance_id, chat_id) do update set ${replaced}` };
};

/** Every value gets the type of its column, since one broken value would block everything behind it. */
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
      return jsonText(value ?? []);
    case 'jsonb':
      return value === null || value === undefined ? null : jsonText(value);
  }
};
