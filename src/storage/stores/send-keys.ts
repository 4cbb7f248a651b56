/** Keys of sends and of campaigns. Those of sends are written by the journal, in the transaction of the message. */
import type { Claim, UsedSendKey } from '#actors/model.ts';
import type { SendKeyStore } from '#actors/ports.ts';
import { sendKeyRows } from '../journal/send-key-rows.ts';
import { changeOwned, whileOwned } from '../ownership.ts';
import type { Database, Runner, Statement } from '../postgres/database.ts';
import { expireRows, expireStatement } from './expiry.ts';

/** $1 instance, $2 epoch. */
const rows = sendKeyRows(3);

export const sendKeyStatements = {
  put: whileOwned('send-key-put', `${rows.sql} returning 1`),
  find: {
    name: 'send-key-find',
    text: `select hash, request, message_id as "messageId", at::float8 as at, answer from send_key where instance_id = $1 and hash = $2`,
  },
  expire: expireStatement('send-key-expire', 'send_key'),
} as const satisfies Readonly<Record<string, Statement>>;

/** In the transaction of what is done under the key. Rejects with `EpochLost` for a former owner. */
export const putSendKey = async (runner: Runner, { instanceId, epoch }: Claim, key: UsedSendKey): Promise<void> => {
  await changeOwned(runner, sendKeyStatements.put, [instanceId, epoch, ...rows.parameters([key])]);
};

export const makeSendKeyStore = (database: Database): SendKeyStore => ({
  find: async (instance, hash) => (await database.rows<UsedSendKey>(sendKeyStatements.find, [instance, hash]))[0] ?? null,
  expire: expireRows(database, sendKeyStatements.expire),
});
