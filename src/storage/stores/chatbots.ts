/** The store of the chatbot beside its definitions: sealed keys, and the tokens used. */
import type { AgentService, ChatbotStore, DayTokens, PendingConversation } from '#actors/ports.ts';
import { checkOwned, owned, type Owned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { asText, type Opener, type Place, placeOf } from '../vault/sealing.ts';

/** The number of days before the current one whose tokens are stored: a month, which is the usual period of a bill. */
const usageDays = 31;

interface KeyRow {
  readonly agentId: string;
  readonly sealed: Buffer;
  readonly provider: AgentService['provider'] | null;
  readonly baseUrl: string | null;
}

export const keyPlace = (instance: string, agent: string): Place => placeOf('chatbot_key', instance, '', agent);

export const chatbotStatements = {
  keys: {
    name: 'chatbot-keys',
    text: `select agent_id as "agentId", sealed, provider, base_url as "baseUrl" from chatbot_key where instance_id = $1`,
  },
  /** $1 instance, $2 epoch. */
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
  /** $1 instance, $2 time, $3 rows. */
  unanswered: {
    name: 'chatbot-unanswered',
    text: `select chat_id as "chatId" from chat where instance_id = $1 and last_message_timestamp >= $2
        and (select not from_me from message where instance_id = $1 and message.chat_id = chat.chat_id
          order by message.timestamp desc, message.seq desc limit 1)
      order by last_message_timestamp desc, chat_id desc limit $3`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeChatbotStore = (database: Database, opener: Opener): ChatbotStore => ({
  async keys(instance) {
    const rows = await database.rows<KeyRow>(chatbotStatements.keys, [instance]);
    const keys = rows.flatMap(({ agentId, sealed, provider, baseUrl }) => {
      const key = opener.open(keyPlace(instance, agentId), sealed, asText, { id: instance, field: `key of agent ${agentId}` });
      const service = provider === null || baseUrl === null ? null : { provider, baseUrl };
      // An agent whose key does not open has none, and says so when it is asked to answer.
      return key === null ? [] : [[agentId, { key, service }] as const];
    });
    return new Map(keys);
  },
  async saveKey({ instanceId, epoch }, agent, key) {
    const claimed = [instanceId, epoch, agent.id];
    const sealed = opener.seal(keyPlace(instanceId, agent.id), key);
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
