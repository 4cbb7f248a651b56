/** Questions about stored chats: pages by the filters and fields of the interface, one chat by any of its names, counts. */
import type { Chat, ChatStats, KnownContact } from '#actors/model.ts';
import type { ChatQuery, ChatStore, ChatTimer } from '#actors/ports.ts';
import { chatStatsStatement, statsOfRow, type ChatCounts, type CountedRow } from '../journal/chat-counts.ts';
import { chatFields } from '../journal/columns.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { columnFor, conditionOf, dependenciesOf } from './chat-filters.ts';
import { chatNames, isSameChat } from './same-chat.ts';

export const chatStatements = {
  /** The chat under the name itself comes before one that has the name as its other address. */
  get: {
    name: 'chat-get',
    text: `select ${chatFields} from chat where instance_id = $1 and ${isSameChat.replaceAll('$?', '$2')}
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
  /** $2 the tag, $3 an id, $4 limit. */
  tagged: {
    name: 'chat-tagged',
    text: `select chat_id as "chatId" from chat
      where instance_id = $1 and extra -> 'lead_tags' is not null and extra -> 'lead_tags' @> to_jsonb($2::text) and chat_id > $3
      order by chat_id limit $4`,
  },
  stats: chatStatsStatement,
} as const satisfies Readonly<Record<string, Statement>>;

/** Both have $1 for the instance; the page has $2 for the limit and $3 for the offset before the values. Too many shapes to be prepared. */
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
      text: `select ${chatFields} from chat where ${where(4)} order by ${columnFor(field).sql} ${direction}, chat_id ${direction} limit $2 offset $3`,
    },
    count: { name: '', text: `select count(*)::int as total from chat where ${where(2)}` },
    values: conditions.map(({ value }) => value),
  };
};

export const makeChatStore = (database: Database, counts: ChatCounts): ChatStore => {
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
      // A first page that is not full has all of them.
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
