/** Reads contacts, chats and messages in pages for an archive, and inserts such rows without overwriting existing ones. */
import type { Claim, InstanceId } from '#actors/model.ts';
import type { ArchivedRows } from '#actors/ports.ts';
import { changeOwned, whileOwned } from '../ownership.ts';
import type { Database, Row, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { archivedMessageFields, chatFields, columnOf, messageRows, newChatRows } from './columns.ts';
import { contactFields, newContactRows } from './people.ts';
import { shortIdStatements } from './short-ids.ts';

/** The number of rows of a page. The rows usually have some 400 KB of text. */
const pageRows = 200;
/**
 * The largest size of a page's texts, contents and encoded forms. A text has at most 65,536 characters, and the encoded form of its message repeats the text.
 * In bytes.
 */
const pageBytes = 4 << 20;

const lastMessage = ['lastMessageText', 'lastMessageType', 'lastMessageSender', 'lastMessageTimestamp'].map(columnOf);
const isLater = 'excluded.last_message_timestamp > chat.last_message_timestamp';
const hasNoLead = `chat.extra = '{}'::jsonb`;

const rowsOf = { contacts: newContactRows(3), chats: newChatRows(3), messages: messageRows(3) } as const;

const stays = (keys: string): string => `on conflict (instance_id, ${keys}) do nothing returning 1`;

export const archivedStatements = {
  /** $2: the last id of the previous page. $3: the largest number of rows. */
  contacts: {
    name: 'archived-contacts',
    text: `select ${contactFields} from contact where instance_id = $1 and contact_id > $2 order by contact_id limit $3`,
  },
  chats: {
    name: 'archived-chats',
    text: `select ${chatFields} from chat where instance_id = $1 and chat_id > $2 order by chat_id limit $3`,
  },
  /** $2 and $3: time and `seq` of the last message of the previous page. $4: limit of rows. $5: limit of bytes, except for the first row. */
  messages: {
    name: 'archived-messages',
    text: `select ${archivedMessageFields}, seq::text as seq from (
        select *, row_number() over page as place,
          sum(octet_length(text) + coalesce(octet_length(raw), 0) + coalesce(pg_column_size(content), 0)) over page as bytes
        from (select * from message where instance_id = $1 and (timestamp, seq) > ($2::bigint, $3::bigint) and status <> 'Queued'
          order by message.timestamp, message.seq limit $4) as message
        window page as (order by timestamp, seq)) as message
      where place = 1 or bytes <= $5 order by message.timestamp, message.seq`,
  },
  /** Selects stored messages by the platform ids ($2) and the short ids ($3) of a page. */
  known: {
    name: 'archived-known',
    text: `select id, message_id as "messageId", chat_id as "chatId", chat_lid as "chatLid" from message
      where instance_id = $1 and (message_id = any($2::text[]) or id = any($3::text[]))`,
  },
  /** $2: chats. */
  unread: {
    name: 'archived-unread',
    text: `select chat_id as "chatId" from chat where instance_id = $1 and chat_id = any($2::text[]) and unread_count > 0`,
  },
  addContacts: whileOwned('archived-add-contacts', `${rowsOf.contacts.sql} ${stays('contact_id')}`),
  addChats: whileOwned(
    'archived-add-chats',
    `${rowsOf.chats.sql} on conflict (instance_id, chat_id) do update set
      extra = case when ${hasNoLead} then excluded.extra else chat.extra end,
      ${lastMessage.map((column) => `${column} = case when ${isLater} then excluded.${column} else chat.${column} end`).join(', ')}
      where ${isLater} or (${hasNoLead} and excluded.extra <> chat.extra) returning 1`,
  ),
  addMessages: whileOwned('archived-add-messages', `${rowsOf.messages.sql} ${stays('message_id, chat_id')}`),
} as const satisfies Readonly<Record<string, Statement>>;

// Pages for an export.

type Pages = AsyncIterable<readonly Row[]>;

async function* pagesOf(database: Database, statement: Statement, instance: InstanceId, key: string): Pages {
  for (let after = ''; ;) {
    const rows = await database.rows(statement, [instance, after, pageRows]);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    after = String(rows.at(-1)?.[key]);
  }
}

/** Converts a row for JSON. The encoded form of a message becomes base64. */
const inJson = ({ seq: _seq, raw, ...row }: Row): Row => ({ ...row, raw: Buffer.isBuffer(raw) ? raw.toString('base64') : null });

/** The lowest `bigint`, which is before every time. */
const beginning = '-9223372036854775808';

async function* messagePages(database: Database, instance: InstanceId): Pages {
  for (let [time, seq] = [beginning, beginning]; ;) {
    const rows = await database.rows(archivedStatements.messages, [instance, time, seq, pageRows, pageBytes]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(inJson);
    [time, seq] = [String(last['timestamp']), String(last['seq'])];
  }
}

/** Reads the rows of an instance with one page in memory. Contacts and chats come before the messages. */
export async function* readArchived(database: Database, instance: InstanceId): AsyncIterable<ArchivedRows> {
  const { contacts, chats } = archivedStatements;
  for await (const rows of pagesOf(database, contacts, instance, 'contactId')) yield { of: 'contacts', rows };
  for await (const rows of pagesOf(database, chats, instance, 'chatId')) yield { of: 'chats', rows };
  for await (const rows of messagePages(database, instance)) yield { of: 'messages', rows };
}

// Pages of an import.

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A message of an archive. The keys are checked texts. The write converts all other fields to the types of their columns. */
interface NamedRow extends Row {
  readonly id: string;
  readonly messageId: string;
  readonly chatId: string;
  readonly chatLid: string;
}

const namedRow = (row: Row): NamedRow => ({
  ...row,
  id: textOf(row['id']),
  messageId: keyText(textOf(row['messageId'])),
  chatId: keyText(textOf(row['chatId'])),
  chatLid: keyText(textOf(row['chatLid'])),
  messageType: keyText(textOf(row['messageType'])),
  raw: typeof row['raw'] === 'string' ? Buffer.from(row['raw'], 'base64') : null,
});

type Name = Pick<NamedRow, 'id' | 'messageId' | 'chatId' | 'chatLid'>;

/** Returns true if both rows are the same message. Each row may name the chat by phone number or by LID. */
const isSame = (one: Name, other: Name): boolean =>
  one.messageId === other.messageId &&
  (one.chatId === other.chatId ||
    (other.chatLid !== '' && one.chatId === other.chatLid) ||
    (one.chatLid !== '' && one.chatLid === other.chatId));

/** Draws new short ids for messages without an id, and for messages whose id is taken. */
const withOwnIds = async (
  database: Database,
  instance: InstanceId,
  rows: readonly NamedRow[],
  known: readonly Name[],
  draw: () => string,
): Promise<readonly NamedRow[]> => {
  const taken = new Set(['', ...known.map(({ id }) => id)]);
  const settled: NamedRow[] = [];
  for (const row of rows) {
    let { id } = row;
    while (taken.has(id)) {
      id = draw();
      const [other] = await database.rows(shortIdStatements.taken, [instance, [id]]);
      if (other !== undefined) taken.add(id);
    }
    taken.add(id);
    settled.push({ ...row, id });
  }
  return settled;
};

/** Returns the rows that are not stored yet. An unread message of the archive becomes read if its chat has no unread messages now. */
const freshMessages = async (
  database: Database,
  instance: InstanceId,
  given: readonly Row[],
  draw: () => string,
): Promise<readonly Row[]> => {
  const rows = given.map(namedRow).filter(({ messageId, chatId, status }) => messageId !== '' && chatId !== '' && status !== 'Queued');
  if (rows.length === 0) return [];
  const ids = [rows.map(({ messageId }) => messageId), rows.map(({ id }) => id)];
  const known = await database.rows<Name>(archivedStatements.known, [instance, ...ids]);
  const fresh = rows.filter((row, at) => !known.some((one) => isSame(one, row)) && !rows.slice(0, at).some((one) => isSame(one, row)));
  if (fresh.length === 0) return [];
  const chats = [...new Set(fresh.map(({ chatId }) => chatId))];
  const unreadChats = new Set((await database.rows<Name>(archivedStatements.unread, [instance, chats])).map(({ chatId }) => chatId));
  const own = await withOwnIds(database, instance, fresh, known, draw);
  return own.map((row) => ({ ...row, unread: row['unread'] === true && unreadChats.has(row.chatId) }));
};

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {});

/** Removes duplicate keys, because a statement accepts each key only once. */
const byKey = (rows: readonly Row[], key: string): readonly Row[] => {
  const keyed = rows.map((row) => ({ ...row, [key]: keyText(textOf(row[key])) }) as Row);
  return [...new Map(keyed.map((row) => [row[key], row])).values()].filter((row) => row[key] !== '');
};

const freshRows = async (
  database: Database,
  instance: InstanceId,
  { of, rows }: ArchivedRows,
  draw: () => string,
): Promise<readonly Row[]> => {
  if (of === 'messages') return freshMessages(database, instance, rows, draw);
  if (of === 'contacts') return byKey(rows, 'contactId');
  return byKey(rows, 'chatId').map((row) => ({ ...row, chatLid: keyText(textOf(row['chatLid'])), extra: objectOf(row['extra']) }));
};

const additions = {
  contacts: archivedStatements.addContacts,
  chats: archivedStatements.addChats,
  messages: archivedStatements.addMessages,
} as const;

/** Stores a page of an archive (see `Journal.addArchived`). No commit of the instance may run meanwhile. `draw` returns a random short id. */
export const writeArchived = async (
  database: Database,
  { instanceId, epoch }: Claim,
  piece: ArchivedRows,
  draw: () => string,
): Promise<number> => {
  const rows = await freshRows(database, instanceId, piece, draw);
  if (rows.length === 0) return 0;
  return changeOwned(database, additions[piece.of], [instanceId, epoch, ...rowsOf[piece.of].parameters(rows)]);
};
