/**
 * The store of the chatbot, with its sealed keys and used tokens, and the store of the connector to Chatwoot, which links chats and messages to a
 * Chatwoot inbox.
 */
import type { ChatwootChat, ChatwootMessage, ChatwootReply } from '#actors/model.ts';
import type { AgentService, ChatbotStore, ChatwootStore, DayTokens, PendingConversation } from '#actors/ports.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { jsonText } from '../postgres/parameters.ts';
import { asText, type Opener, type SealedId, sealedIdOf } from '../vault/sealing.ts';
import { expireRows, expireStatement } from './expiry.ts';

// The store of the chatbot: sealed keys and used tokens. Agents and triggers are definitions.

/** The number of days before the current day for which the used tokens are stored. A month is the usual billing period. */
const usageDays = 31;

interface KeyRow {
  readonly agentId: string;
  readonly sealed: Buffer;
  readonly provider: AgentService['provider'] | null;
  readonly baseUrl: string | null;
}

const keySealedId = (instance: string, agent: string): SealedId => sealedIdOf('chatbot_key', instance, '', agent);

export const chatbotStatements = {
  keys: {
    name: 'chatbot-keys',
    text: `select agent_id as "agentId", sealed, provider, base_url as "baseUrl" from chatbot_key where instance_id = $1`,
  },
  /** $1: instance. $2: epoch. */
  saveKey: {
    name: 'chatbot-key-save',
    text: `with ${owned},
      saved as (
        insert into chatbot_key (instance_id, agent_id, sealed, provider, base_url) select $1, $3, $4, $5, $6 where exists (select from owned)
        on conflict (instance_id, agent_id) do update set sealed = excluded.sealed, provider = excluded.provider, base_url = excluded.base_url)
      select count(*)::int as owned from owned`,
  },
  removeKey: {
    name: 'chatbot-key-remove',
    text: `with ${owned},
      gone as (delete from chatbot_key where instance_id = $1 and agent_id = $3 and exists (select from owned))
      select count(*)::int as owned from owned`,
  },
  tokens: { name: 'chatbot-tokens', text: `select tokens::float8 as tokens from chatbot_usage where instance_id = $1 and day = $2` },
  usage: {
    name: 'chatbot-usage',
    text: `select day, tokens::float8 as tokens from chatbot_usage where instance_id = $1 order by day desc`,
  },
  addTokens: {
    name: 'chatbot-tokens-add',
    text: `with ${owned},
      gone as (delete from chatbot_usage where instance_id = $1 and day < to_char($3::date - ${usageDays}, 'YYYY-MM-DD') and exists (select from owned)),
      added as (
        insert into chatbot_usage (instance_id, day, tokens) select $1, $3, $4 where exists (select from owned)
        on conflict (instance_id, day) do update set tokens = chatbot_usage.tokens + excluded.tokens)
      select count(*)::int as owned from owned`,
  },
  /** $1: instance. $2: the earliest time of a chat's last message. $3: the largest number of rows. */
  unanswered: {
    name: 'chatbot-unanswered',
    text: `select chat_id as "chatId" from chat where instance_id = $1 and last_message_timestamp >= $2
        and (select not from_me from message where instance_id = $1 and message.chat_id = chat.chat_id
          order by message.timestamp desc, message.seq desc limit 1)
      order by last_message_timestamp desc, chat_id desc limit $3`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const createChatbotStore = (database: Database, opener: Opener): ChatbotStore => ({
  async keys(instance) {
    const rows = await database.rows<KeyRow>(chatbotStatements.keys, [instance]);
    const keys = rows.flatMap(({ agentId, sealed, provider, baseUrl }) => {
      const key = opener.open(keySealedId(instance, agentId), sealed, asText, { id: instance, field: `key of agent ${agentId}` });
      const service = provider === null || baseUrl === null ? null : { provider, baseUrl };
      // A key that cannot be unsealed counts as missing. The agent reports this at its next answer.
      return key === null ? [] : [[agentId, { key, service }] as const];
    });
    return new Map(keys);
  },
  async saveKey({ instanceId, epoch }, agent, key) {
    const claimed = [instanceId, epoch, agent.id];
    const sealed = opener.seal(keySealedId(instanceId, agent.id), key);
    checkOwned(
      key === ''
        ? await database.rows<Owned>(chatbotStatements.removeKey, claimed)
        : await database.rows<Owned>(chatbotStatements.saveKey, [...claimed, sealed, agent.provider, agent.baseUrl]),
    );
  },
  async tokens(instance, day) {
    return (await database.rows<{ readonly tokens: number }>(chatbotStatements.tokens, [instance, day]))[0]?.tokens ?? 0;
  },
  usage: (instance) => database.rows<DayTokens>(chatbotStatements.usage, [instance]),
  async addTokens({ instanceId, epoch }, day, tokens) {
    checkOwned(await database.rows<Owned>(chatbotStatements.addTokens, [instanceId, epoch, day, tokens]));
  },
  unanswered: (instance, since, limit) => database.rows<PendingConversation>(chatbotStatements.unanswered, [instance, since, limit]),
});

// The links of chats and messages to a Chatwoot inbox.

const chatFields = `chat_id as "chatId", contact_id::float8 as "contactId", source_id as "sourceId",
  conversation_id::float8 as "conversationId", name, image`;
const messageFields = `key, conversation_id::float8 as "conversationId", id::float8 as id, progress`;

/** Builds an upsert. $1: instance. $2: epoch. The key and the columns begin at $3. */
const upsert = (table: string, key: string, columns: readonly string[]): string => `with ${owned},
  saved as (
    insert into ${table} (instance_id, ${key}, ${columns.join(', ')})
    select $1, ${[key, ...columns].map((_, at) => `$${at + 3}`).join(', ')} where exists (select from owned)
    on conflict (instance_id, ${key}) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')})
  select count(*)::int as owned from owned`;

export const chatwootStatements = {
  chat: {
    name: 'chatwoot-chat',
    text: `select ${chatFields} from chatwoot_chat where instance_id = $1 and chat_id = $3 and inbox = $2`,
  },
  chatOf: {
    name: 'chatwoot-chat-of',
    text: `select chat_id as "chatId" from chatwoot_chat where instance_id = $1 and conversation_id = $3 and inbox = $2 limit 1`,
  },
  saveChat: {
    name: 'chatwoot-save-chat',
    text: upsert('chatwoot_chat', 'chat_id', ['inbox', 'contact_id', 'source_id', 'conversation_id', 'name', 'image']),
  },
  messages: {
    name: 'chatwoot-messages',
    text: `select ${messageFields}, at::float8 as at from chatwoot_message where instance_id = $1 and key = any($3::text[]) and inbox = $2`,
  },
  messagesOf: {
    name: 'chatwoot-messages-of',
    text: `select ${messageFields} from chatwoot_message where instance_id = $1 and id = $3 and inbox = $2 order by at, key limit 100`,
  },
  saveMessage: {
    name: 'chatwoot-save-message',
    text: upsert('chatwoot_message', 'key', ['inbox', 'conversation_id', 'id', 'progress', 'at']),
  },
  /** $9: the largest number of waiting replies of an instance. `room` is false if this number is reached. */
  addReply: {
    name: 'chatwoot-add-reply',
    text: `with ${owned},
      waiting as (select count(*) as held from (select from chatwoot_reply where instance_id = $1 order by conversation_id, seq limit $9) as others),
      saved as (
        insert into chatwoot_reply (instance_id, id, kind, inbox, conversation_id, news, at, not_before, attempts, failure)
        select $1, $3, $4, $5, $6, $7, $8, 0, 0, '' from waiting where held < $9 and exists (select from owned)
        on conflict (instance_id, id, kind) do nothing)
      select (select count(*)::int from owned) as owned, held < $9 as room from waiting`,
  },
  /**
   * Reads the first waiting reply of each conversation, the earliest due reply first. $1: instances. $2: the largest number of rows. $3: the largest number of
   * rows of one instance. The column `news` is read for the chosen rows only. Few replies wait at any time.
   */
  replies: {
    name: 'chatwoot-replies',
    text: `with head as (
        select distinct on (instance_id, conversation_id) instance_id, conversation_id, chatwoot_reply.seq, not_before
        from chatwoot_reply where instance_id = any($1::text[]) order by instance_id, conversation_id, chatwoot_reply.seq),
      ranked as (select *, row_number() over (partition by instance_id order by not_before, seq) as place from head),
      chosen as (select * from ranked where place <= $3::bigint order by not_before, seq limit $2)
      select found.* from chosen cross join lateral (
        select seq::float8 as seq, instance_id as "instanceId", inbox, news, at::float8 as at, not_before::float8 as "notBefore", attempts, begun,
          failure, refused
        from chatwoot_reply as reply
        where reply.instance_id = chosen.instance_id and reply.conversation_id = chosen.conversation_id and reply.seq = chosen.seq limit 1) as found
      order by chosen.not_before, chosen.seq`,
  },
  replying: { name: 'chatwoot-replying', text: `select distinct instance_id as id from chatwoot_reply` },
  beginReply: {
    name: 'chatwoot-begin-reply',
    text: `with ${owned},
      saved as (
        update chatwoot_reply set begun = $4
        where instance_id = $1 and seq = $3 and failure = '' and exists (select from owned)
        returning seq)
      select (select count(*)::int from owned) as owned, exists (select from saved) as begins`,
  },
  /** Postpones a reply. A failure that was stored during the attempt stays, and remains due at once. */
  postponeReply: {
    name: 'chatwoot-postpone-reply',
    text: `with ${owned},
      saved as (
        update chatwoot_reply set
          not_before = case when $6 = '' and failure <> '' then not_before else $4 end,
          attempts = $5, failure = case when $6 = '' then failure else $6 end, refused = $7, begun = 0
        where instance_id = $1 and seq = $3 and exists (select from owned))
      select count(*)::int as owned from owned`,
  },
  failReplies: {
    name: 'chatwoot-fail-replies',
    text: `with ${owned},
      saved as (update chatwoot_reply set failure = $3, not_before = 0 where instance_id = $1 and failure = '' and exists (select from owned))
      select count(*)::int as owned from owned`,
  },
  removeReply: {
    name: 'chatwoot-remove-reply',
    text: `with ${owned},
      gone as (delete from chatwoot_reply where instance_id = $1 and seq = $3 and exists (select from owned))
      select count(*)::int as owned from owned`,
  },
  expire: expireStatement('chatwoot-expire', 'chatwoot_message'),
} as const satisfies Readonly<Record<string, Statement>>;

export const createChatwootStore = (database: Database): ChatwootStore => ({
  chat: async (instance, inbox, chatId) =>
    (await database.rows<ChatwootChat>(chatwootStatements.chat, [instance, inbox, chatId]))[0] ?? null,
  async chatOf(instance, inbox, conversationId) {
    const [row] = await database.rows<{ chatId: string }>(chatwootStatements.chatOf, [instance, inbox, conversationId]);
    return row?.chatId ?? null;
  },
  async saveChat({ instanceId, epoch }, inbox, { chatId, contactId, sourceId, conversationId, name, image }) {
    const values = [instanceId, epoch, chatId, inbox, contactId, sourceId, conversationId, name, image];
    checkOwned(await database.rows<Owned>(chatwootStatements.saveChat, values));
  },
  messages: (instance, inbox, keys) =>
    database.rows<ChatwootMessage & { readonly at: number }>(chatwootStatements.messages, [instance, inbox, keys]),
  messagesOf: (instance, inbox, id) => database.rows<ChatwootMessage>(chatwootStatements.messagesOf, [instance, inbox, id]),
  async saveMessage({ instanceId, epoch }, inbox, { key, conversationId, id, progress }, at) {
    const values = [instanceId, epoch, key, inbox, conversationId, id, progress, at];
    checkOwned(await database.rows<Owned>(chatwootStatements.saveMessage, values));
  },
  async addReply({ instanceId, epoch }, inbox, news, at, most) {
    const values = [instanceId, epoch, news.id, news.kind, inbox, news.conversationId, jsonText(news), at, most];
    const rows = await database.rows<Owned & { readonly room: boolean }>(chatwootStatements.addReply, values);
    checkOwned(rows);
    return rows[0]?.room === true;
  },
  async replies(instances, limit, ofInstance) {
    return instances.length === 0 ? [] : database.rows<ChatwootReply>(chatwootStatements.replies, [instances, limit, ofInstance]);
  },
  replying: async () => (await database.rows<{ id: string }>(chatwootStatements.replying, [])).map(({ id }) => id),
  async beginReply({ instanceId, epoch }, { seq, begun }) {
    const rows = await database.rows<Owned & { readonly begins: boolean }>(chatwootStatements.beginReply, [instanceId, epoch, seq, begun]);
    checkOwned(rows);
    return rows[0]?.begins === true;
  },
  async failReplies({ instanceId, epoch }, reason) {
    checkOwned(await database.rows<Owned>(chatwootStatements.failReplies, [instanceId, epoch, reason]));
  },
  async postponeReply({ instanceId, epoch }, { seq, notBefore, attempts, failure, refused }) {
    const values = [instanceId, epoch, seq, notBefore, attempts, failure, jsonText(refused)];
    checkOwned(await database.rows<Owned>(chatwootStatements.postponeReply, values));
  },
  async removeReply({ instanceId, epoch }, seq) {
    checkOwned(await database.rows<Owned>(chatwootStatements.removeReply, [instanceId, epoch, seq]));
  },
  expire: expireRows(database, chatwootStatements.expire),
});
