/** Keys of sends. The journal writes them, in the transaction of the message. */
import type { UsedSendKey } from '#actors/model.ts';
import type { SendKeyStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const sendKeyStatements = {
  find: {
    name: 'send-key-find',
    text: `select hash, request, message_id as "messageId", at::float8 as at, answer from send_key where instance_id = $1 and hash = $2`,
  },
  /** $1 time, $2 rows. */
  expire: {
    name: 'send-key-expire',
    text: `with gone as (
        delete from send_key where ctid = any(array(select ctid from send_key where at < $1 order by at limit $2)) and at < $1 returning 1)
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeSendKeyStore = (database: Database): SendKeyStore => ({
  find: async (instance, hash) => (await database.rows<UsedSendKey>(sendKeyStatements.find, [instance, hash]))[0] ?? null,
  expire: async (before, limit) => (await database.rows<{ count: number }>(sendKeyStatements.expire, [before, limit]))[0]?.count ?? 0,
});
