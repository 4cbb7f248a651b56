/** Reads stored messages, removes messages of a chat, and stores idempotency keys. */
import type { Claim, InstanceId, Message, Receipt, ReceiptCounts, ReceiptState, UsedSendKey } from '#actors/model.ts';
import type { MessageQuery, MessageStore, NamedMessage, ReadKey, SendKeyStore } from '#actors/ports.ts';
import { messageFields, sendKeyRows } from '../journal/columns.ts';
import { changeOwned, checkGone, owned, type Owned, whileOwned } from '../ownership.ts';
import type { Database, Runner, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { chatNames, exactNames, sameChatIds } from './chats.ts';
import { expireRows, expireStatement } from './expiry.ts';

/** The order of pages. The columns have the prefix of their table, because the select list has an expression named `timestamp` without an index. */
const newest = `order by message.timestamp desc, message.seq desc`;

/** The condition of the index by kind. Nearly all messages are texts. The index contains the other kinds, because a scan by time would find them slowly. */
const isOtherKind = `message_type not in ('Conversation', 'ExtendedTextMessage')`;
const texts: ReadonlySet<string> = new Set(['Conversation', 'ExtendedTextMessage']);

/** The conditions of a query by field. Each used combination is a prepared statement. */
const conditions = {
  id: (n: number) => `(id = any($${n}::text[]) or message_id = any($${n}::text[]))`,
  chatId: () => `chat_id = same.address`,
  trackSource: (n: number) => `left(track_source, 100) = left($${n}, 100) and track_source = $${n} and track_source <> ''`,
  textKind: (n: number) => `message_type = $${n}`,
  otherKind: (n: number) => `message_type = $${n} and ${isOtherKind}`,
  fromMe: (n: number) => `from_me = $${n}::boolean`,
  trackId: (n: number) => `left(track_id, 100) = left($${n}, 100) and track_id = $${n} and track_id <> ''`,
} as const;

type Condition = keyof typeof conditions;

/**
 * The least offset of a deep page. A query with an offset reads the rows before the page too, and sorts them if the chat has two addresses. A deep page
 * therefore finds its rows by their keys first, in the index where possible. A query for an earlier page has no such second step.
 */
const deepOffset = 1_000;

/** Builds the query for a combination of conditions. $1: instance. $2: limit. $3: offset. One parameter for each condition follows. */
export const findStatement = (asked: readonly Condition[], isDeep = false): Statement => {
  const where = ['instance_id = $1', ...asked.map((name, at) => conditions[name](at + 4))].join(' and ');
  const page = `${newest} limit $2 offset $3`;
  const key = 'message.timestamp, message.seq';
  const ofOne = `select ${isDeep ? key : '*'} from message where ${where} ${newest}`;
  // Messages of a chat with two addresses are read in index order for each address, up to the size of a page, and then merged.
  const from = asked.includes('chatId')
    ? `from (${sameChatIds(asked.indexOf('chatId') + 4)}) as same, lateral (${ofOne} limit $2::bigint + $3::bigint) as message`
    : `from message where ${where}`;
  const name = [isDeep ? 'message-find-deep' : 'message-find', ...asked].join('-');
  if (!isDeep) return { name, text: `select ${messageFields} ${from} ${page}` };
  const found = `select * from message where instance_id = $1 and timestamp = chosen.moment and seq = chosen.place limit 1`;
  return {
    name,
    text: `select ${messageFields} from (select ${key} ${from} ${page}) as chosen (moment, place), lateral (${found}) as message ${newest}`,
  };
};

const waitingStatement = (condition: string): string =>
  `select ${messageFields} from message where instance_id = $1 and status = 'Queued' and ${condition} order by seq limit $2`;

export const messageStatements = {
  /** $2: ids in all their forms. */
  named: {
    name: 'message-named',
    text: `select id, chat_id as "chatId", message_id as "messageId", sender, from_me as "fromMe" from message
      where instance_id = $1 and (id = any($2::text[]) or message_id = any($2::text[])) ${newest}`,
  },
  oldest: {
    name: 'message-oldest',
    text: `select ${messageFields} from (${sameChatIds(2)}) as same, lateral (
        select * from message where instance_id = $1 and chat_id = same.address order by message.timestamp, message.seq limit 1) as message
      order by message.timestamp, message.seq limit 1`,
  },
  unread: {
    name: 'message-unread',
    text: `select chat_id as "chatId", message_id as "messageId", sender from message
      where instance_id = $1 and chat_id in (${sameChatIds(2)}) and unread ${newest} limit $3`,
  },
  /** $2: epoch. $3: names of a chat. $4: the latest time of a removed message. $5: the largest number of rows. */
  removeOf: {
    name: 'message-remove-of',
    text: `with ${owned},
      gone as (
        delete from message where ctid = any(array(
          select one.ctid from (${sameChatIds(3)}) as same, lateral (
            select ctid from message where instance_id = $1 and chat_id = same.address and timestamp <= $4 and status <> 'Queued' limit $5) as one
          limit $5)) and exists (select from owned)
        returning 1)
      select (select count(*)::int from owned) as owned, (select count(*)::int from gone) as count`,
  },
  queueing: {
    name: 'message-queueing',
    text: `select instance_id as id, count(queued_send)::int as queued from message where status = 'Queued' group by instance_id`,
  },
  /** Reads the time of the newest message, with one index look-up for each instance. */
  newest: {
    name: 'message-newest',
    text: `select max(newest.timestamp)::float8 as at from instance cross join lateral (
      select timestamp from message where message.instance_id = instance.id order by timestamp desc, seq desc limit 1) as newest`,
  },
  queued: { name: 'message-queued', text: waitingStatement(`queued_send is not null`) },
  interrupted: { name: 'message-interrupted', text: waitingStatement(`queued_send is null and timestamp <= $3`) },
} as const satisfies Readonly<Record<string, Statement>>;

/** Returns the possible ids in a text: a short id or a platform id, with or without the prefix `<owner>:`. */
const idForms = (id: string): readonly string[] => {
  const colon = id.indexOf(':');
  return (colon < 0 ? [id] : [id, id.slice(colon + 1)]).map(keyText);
};

/** Returns the parameter of each condition; undefined for a condition that the query does not have. */
const valuesOf = ({ id, chatId, trackSource, trackId, messageType, fromMe }: MessageQuery): Readonly<Record<Condition, unknown>> => {
  const kind = messageType === undefined ? undefined : keyText(messageType);
  const isText = kind !== undefined && texts.has(kind);
  return {
    id: id === undefined ? undefined : idForms(id),
    chatId: chatId === undefined ? undefined : chatNames(chatId),
    trackSource: trackSource === undefined ? undefined : keyText(trackSource),
    textKind: isText ? kind : undefined,
    otherKind: isText ? undefined : kind,
    fromMe,
    trackId: trackId === undefined ? undefined : keyText(trackId),
  };
};

/** The condition that a member has reached at least this state. */
const reached: Readonly<Record<ReceiptState | 'any', string>> = {
  any: 'true',
  Delivered: 'true',
  Read: '(read_at > 0 or played_at > 0)',
  Played: 'played_at > 0',
};

/** Builds the query of a page of receipts. $1: instance. $2: platform id. $3: limit. $4: offset. */
export const receiptStatement = (state: ReceiptState | 'any'): Statement => ({
  name: `message-receipts-${state}`,
  text: `select message_id as "messageId", member, member_pn as "memberPn",
      delivered_at::float8 as "deliveredAt", read_at::float8 as "readAt", played_at::float8 as "playedAt"
    from receipt where instance_id = $1 and message_id = $2 and ${reached[state]} order by receipt.member limit $3 offset $4`,
});

const countsStatement: Statement = {
  name: 'message-receipt-counts',
  text: 'select delivered, read, played from receipt_count where instance_id = $1 and message_id = $2',
};

const noCounts: ReceiptCounts = { delivered: 0, read: 0, played: 0 };

export const createMessageStore = (database: Database): MessageStore => {
  const find = async (
    instance: InstanceId,
    query: MessageQuery,
  ): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }> => {
    const parameters = valuesOf(query);
    const asked = (Object.keys(conditions) as Condition[]).filter((name) => parameters[name] !== undefined);
    const values = asked.map((name) => parameters[name]);
    const statement = findStatement(asked, query.offset >= deepOffset);
    const rows = await database.rows<Message>(statement, [instance, query.limit + 1, query.offset, ...values]);
    return { messages: rows.slice(0, query.limit), more: rows.length > query.limit };
  };
  return {
    find,
    byId: async (instance, id) => (await find(instance, { id, limit: 1, offset: 0 })).messages[0] ?? null,
    async named(instance, ids) {
      const forms = new Map(ids.map((id) => [id, idForms(id)]));
      const rows = await database.rows<NamedMessage & { readonly id: string }>(messageStatements.named, [
        instance,
        [...forms.values()].flat(),
      ]);
      const found = new Map(rows.toReversed().flatMap((row) => [[row.id, row] as const, [row.messageId, row] as const]));
      return new Map(
        [...forms].flatMap(([id, names]) => {
          const row = names.map((name) => found.get(name)).find((one) => one !== undefined);
          return row === undefined ? [] : [[id, row] as const];
        }),
      );
    },
    async receipts(instance, { messageId, state, limit, offset }) {
      const rows = await database.rows<Receipt>(receiptStatement(state ?? 'any'), [instance, keyText(messageId), limit + 1, offset]);
      const [counts = noCounts] = await database.rows<ReceiptCounts>(countsStatement, [instance, keyText(messageId)]);
      return { receipts: rows.slice(0, limit), more: rows.length > limit, counts };
    },
    oldest: async (instance, chatId) => (await database.rows<Message>(messageStatements.oldest, [instance, exactNames(chatId)]))[0] ?? null,
    async removeOf({ instanceId, epoch }, chatId, until, limit) {
      const values = [instanceId, epoch, exactNames(chatId), until, limit];
      const [row] = await database.rows<Owned & { readonly count: number }>(messageStatements.removeOf, values);
      if (row?.owned !== 1) await checkGone(database, [instanceId]);
      return row?.count ?? 0;
    },
    unread: (instance, chatId, limit) => database.rows<ReadKey>(messageStatements.unread, [instance, exactNames(chatId), limit]),
    queueing: () => database.rows<{ id: string; queued: number }>(messageStatements.queueing, []),
    newestAt: async () => (await database.rows<{ readonly at: number | null }>(messageStatements.newest, []))[0]?.at ?? null,
    queued: (instance, limit) => database.rows<Message>(messageStatements.queued, [instance, limit]),
    interrupted: (instance, before, limit) => database.rows<Message>(messageStatements.interrupted, [instance, limit, before]),
  };
};

// Idempotency keys of sends and campaigns. The journal writes the keys of sends in the transaction of the message.

/** The rows of idempotency keys. The parameters $1 and $2 are the instance and its epoch. */
const rows = sendKeyRows(3);

export const sendKeyStatements = {
  put: whileOwned('send-key-put', `${rows.sql} returning 1`),
  find: {
    name: 'send-key-find',
    text: `select hash, request, message_id as "messageId", at::float8 as at, answer from send_key where instance_id = $1 and hash = $2`,
  },
  expire: expireStatement('send-key-expire', 'send_key'),
} as const satisfies Readonly<Record<string, Statement>>;

/** Stores an idempotency key in the transaction of the request that has the key. Rejects with `EpochLost` for a former owner. */
export const putSendKey = async (runner: Runner, { instanceId, epoch }: Claim, key: UsedSendKey): Promise<void> => {
  await changeOwned(runner, sendKeyStatements.put, [instanceId, epoch, ...rows.parameters([key])]);
};

export const createSendKeyStore = (database: Database): SendKeyStore => ({
  find: async (instance, hash) => (await database.rows<UsedSendKey>(sendKeyStatements.find, [instance, hash]))[0] ?? null,
  expire: expireRows(database, sendKeyStatements.expire),
});
