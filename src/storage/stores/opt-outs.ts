/** Contacts that asked to get no campaigns. */
import type { OptOut } from '#actors/model.ts';
import type { OptOutStore } from '#actors/ports.ts';
import { changeOwned, whileOwned } from '../ownership.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { chatNames, sameChatIds } from './same-chat.ts';

export const optOutStatements = {
  /** $2 ids of a chat. */
  has: {
    name: 'opt-out-has',
    text: `select exists (select from (${sameChatIds(2)}) as same
      join opt_out on opt_out.instance_id = $1 and opt_out.chat_id = same.address) as has`,
  },
  /** $2 limit, $3 offset. */
  list: {
    name: 'opt-out-list',
    text: `select chat_id as "chatId", opt_out.at::float8 as at, source as by from opt_out where instance_id = $1
      order by opt_out.at desc, opt_out.chat_id desc limit $2 offset $3`,
  },
  count: { name: 'opt-out-count', text: `select count(*)::int as count from opt_out where instance_id = $1` },
  /** $3 chats, $4 time. */
  add: whileOwned(
    'opt-out-add',
    `insert into opt_out (instance_id, chat_id, at, source) select $1, chat_id, $4::bigint, 'api' from unnest($3::text[]) as chat_id
     where exists (select from owned) on conflict (instance_id, chat_id) do nothing returning 1`,
  ),
  remove: whileOwned(
    'opt-out-remove',
    `delete from opt_out where instance_id = $1 and chat_id = any($3::text[]) and exists (select from owned) returning 1`,
  ),
} as const satisfies Readonly<Record<string, Statement>>;

export const makeOptOutStore = (database: Database): OptOutStore => ({
  has: async (instance, chatIds) =>
    (await database.rows<{ has: boolean }>(optOutStatements.has, [instance, chatIds.flatMap(chatNames)]))[0]?.has ?? false,
  async list(instance, limit, offset) {
    const [optOuts, [counted]] = await Promise.all([
      database.rows<OptOut>(optOutStatements.list, [instance, limit, offset]),
      database.rows<{ count: number }>(optOutStatements.count, [instance]),
    ]);
    return { optOuts, total: counted?.count ?? 0 };
  },
  add: ({ instanceId, epoch }, chatIds, at) => changeOwned(database, optOutStatements.add, [instanceId, epoch, chatIds, at]),
  remove: ({ instanceId, epoch }, chatIds) => changeOwned(database, optOutStatements.remove, [instanceId, epoch, chatIds]),
});
