/** Keys of sends. The journal writes them, in the transaction of the message. */
import type { UsedSendKey } from '#actors/model.ts';
import type { SendKeyStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { expireRows, expireStatement } from './expiry.ts';

export const sendKeyStatements = {
  find: {
    name: 'send-key-find',
    text: `select hash, request, message_id as "messageId", at::float8 as at, answer from send_key where instance_id = $1 and hash = $2`,
  },
  expire: expireStatement('send-key-expire', 'send_key'),
} as const satisfies Readonly<Record<string, Statement>>;

export const makeSendKeyStore = (database: Database): SendKeyStore => ({
  find: async (instance, hash) => (await database.rows<UsedSendKey>(sendKeyStatements.find, [instance, hash]))[0] ?? null,
  expire: expireRows(database, sendKeyStatements.expire),
});
