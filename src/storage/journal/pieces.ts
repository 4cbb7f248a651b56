/**
 * Changes of a commit that may concern any number of rows. Examples are marking a chat as read with all its unread messages, and the merge of
 * two chats of one person.
 */
import type { Entry, PersonPair } from '#actors/model.ts';
import type { Journal } from '#actors/ports.ts';
import { owned } from '../ownership.ts';
import type { Database, Runner, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { concernedBy } from './known-rows.ts';
import type { Outcome } from './outcome.ts';

// Marking a chat as read, clearing a chat, and removing a label from all chats. These changes run before the commit, in batches. Each batch is
// a short statement of its own, so that no statement reaches its time limit. If the commit fails afterwards, it is retried with the same
// entries, and then finds fewer rows.

/** The number of rows of one batch. PostgreSQL needs some 100 ms for a batch (measured). */
const pieceRows = 2_000;

export const pieceStatements = {
  /** $3: chat. $4 and $5: time and sequence number of the last message of the previous batch. $6: limit of rows. */
  read: {
    name: 'journal-read-piece',
    text: `with ${owned},
      page as materialized (
        select ctid, timestamp, seq from message where instance_id = $1 and chat_id = $3 and unread and (timestamp, seq) > ($4::bigint, $5::bigint)
        order by message.timestamp, message.seq limit $6),
      read as (update message set unread = false where ctid = any(array(select ctid from page)) and exists (select from owned)),
      last as (select timestamp, seq from page order by page.timestamp desc, page.seq desc limit 1)
      select (select count(*)::int from owned) as owned, (select count(*)::int from page) as count,
        (select timestamp::text from last) as first, (select seq::text from last) as second`,
  },
  /**
   * Erases one batch of a chat's messages. $3: chat. $4 and $5: time and sequence number of the last message of the previous batch. $6: limit of rows.
   * $7: the last millisecond that is erased. $8: true to keep starred messages. $9: ids of the last erased messages. Later messages of the last second stay.
   */
  erase: {
    name: 'journal-erase-piece',
    text: `with ${owned},
      named as materialized (
        select max(one.seq) as seq from unnest($9::text[]) as wanted,
          lateral (select seq, chat_id from message where instance_id = $1 and message_id = wanted offset 0) as one
        where one.chat_id = $3),
      page as materialized (
        select ctid, timestamp, seq from message
        where instance_id = $1 and chat_id = $3 and (timestamp, seq) > ($4::bigint, $5::bigint) and timestamp <= $7::bigint
        order by message.timestamp, message.seq limit $6),
      gone as (
        delete from message where ctid = any(array(select ctid from page)) and status <> 'Queued' and not (starred and $8::boolean)
          and (timestamp < $7::bigint - 999 or seq <= coalesce((select seq from named), seq)) and exists (select from owned)),
      last as (select timestamp, seq from page order by page.timestamp desc, page.seq desc limit 1)
      select (select count(*)::int from owned) as owned, (select count(*)::int from page) as count,
        (select timestamp::text from last) as first, (select seq::text from last) as second`,
  },
  /** $3: full ids of labels, as chats contain them. $4 and $5: time and id of the last chat of the previous batch. $6: limit of rows. */
  unlabel: {
    name: 'journal-unlabel-piece',
    text: `with ${owned},
      page as materialized (
        select ctid, last_message_timestamp as at, chat_id from chat
        where instance_id = $1 and labels <> '{}' and (last_message_timestamp, chat_id) > ($4::bigint, $5::text)
        order by chat.last_message_timestamp, chat.chat_id limit $6),
      unlabelled as (
        update chat set labels = array(select label from unnest(labels) as label where label <> all($3::text[]))
        where ctid = any(array(select ctid from page)) and labels && $3::text[] and exists (select from owned)),
      last as (select at, chat_id from page order by page.at desc, page.chat_id desc limit 1)
      select (select count(*)::int from owned) as owned, (select count(*)::int from page) as count,
        (select at::text from last) as first, (select chat_id from last) as second`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Piece {
  readonly owned: number;
  /** The number of rows in the batch. Fewer than `pieceRows` means that the batch was the last. */
  readonly count: number;
  /** The two parts of the key of the last row. */
  readonly first: string;
  readonly second: string;
}

interface Work {
  readonly statement: Statement;
  readonly what: string | readonly string[];
  /** A key before the first row. */
  readonly from: readonly [first: string, second: string];
  /** Parameters from $7 on. */
  readonly more?: readonly unknown[];
}

/** The lowest `bigint`, which is before every time of a message. */
const earliest = String(-(2n ** 63n));

const worksOf = ({ readChats, goneLabels, erasures }: Outcome): readonly Work[] => [
  ...erasures.map(({ chatId, until, keepStarred, last }): Work => {
    const more = [until, keepStarred, last.map(keyText)];
    return { statement: pieceStatements.erase, what: chatId, from: [earliest, earliest], more };
  }),
  ...readChats.map((chat): Work => ({ statement: pieceStatements.read, what: chat, from: [earliest, earliest] })),
  ...(goneLabels.length > 0 ? [{ statement: pieceStatements.unlabel, what: goneLabels, from: [earliest, ''] } as const] : []),
];

/** Runs the changes of an outcome in batches of `pieceRows` rows. Returns false if the instance is removed or has another owner. */
export const changedInPieces = async (
  database: Database,
  { id, epoch }: Pick<Parameters<Journal['commit']>[0], 'id' | 'epoch'>,
  outcome: Outcome,
): Promise<boolean> => {
  for (const { statement, what, from, more = [] } of worksOf(outcome))
    for (let [first, second] = from; ;) {
      const [piece] = await database.rows<Piece>(statement, [id, epoch, what, first, second, pieceRows, ...more]);
      if (piece?.owned !== 1) return false;
      if (piece.count < pieceRows) break;
      ({ first, second } = piece);
    }
  return true;
};

// The move of rows from a person's LID to the number. The statements run in the transaction of the commit that writes the chat. They run in
// batches, so that no statement reaches its time limit.

/** True if a message is also stored under the number ($4). The copy under the number stays, and the copy under the LID ($3) is deleted. */
const isUnderNumber = `exists (select from message as other
          where other.instance_id = $1 and other.message_id = message.message_id and other.chat_id = $4)`;

export const mergeStatements = {
  /** $2: LIDs. Returns the LIDs under which rows are stored. */
  present: {
    name: 'journal-merge-present',
    text: `select chat_id as lid from chat where instance_id = $1 and chat_id = any($2::text[])
      union select contact_id from contact where instance_id = $1 and contact_id = any($2::text[])
      union select stored.chat_id from unnest($2::text[]) as lid
        cross join lateral (select chat_id from message where instance_id = $1 and chat_id = lid limit 1) as stored`,
  },
  /** $3: LID. $4: number. $5: the largest number of rows. */
  messages: {
    name: 'journal-merge-messages',
    text: `with ${owned},
      page as materialized (select ctid from message where instance_id = $1 and chat_id = $3 limit $5),
      doubled as (
        delete from message where ctid = any(array(select ctid from page)) and ${isUnderNumber} and exists (select from owned)),
      moved as (
        update message set chat_id = $4, chat_lid = $3
        where ctid = any(array(select ctid from page)) and not ${isUnderNumber} and exists (select from owned))
      select (select count(*)::int from owned) as owned, (select count(*)::int from page) as count`,
  },
  /** Moves the Chatwoot conversation and the opt-out from campaigns to the number. A conversation or an opt-out that the number already has stays. */
  others: {
    name: 'journal-merge-others',
    text: `with ${owned},
      conversation as (
        update chatwoot_chat set chat_id = $4 where instance_id = $1 and chat_id = $3 and exists (select from owned)
          and not exists (select from chatwoot_chat as other where other.instance_id = $1 and other.chat_id = $4)),
      opted_out as (
        insert into opt_out (instance_id, chat_id, at, source)
          select instance_id, $4, at, source from opt_out where instance_id = $1 and chat_id = $3 and exists (select from owned)
        on conflict (instance_id, chat_id) do nothing),
      forgotten as (delete from opt_out where instance_id = $1 and chat_id = $3 and exists (select from owned))
      select (select count(*)::int from owned) as owned, 0 as count`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Moved {
  readonly owned: number;
  /** The number of rows in the batch. */
  readonly count: number;
}

const peopleOf = (entry: Entry): readonly PersonPair[] => (entry.kind === 'samePerson' ? entry.people : []);

const withShortKeys = ({ chatId, chatLid }: PersonPair): PersonPair => ({ chatId: keyText(chatId), chatLid: keyText(chatLid) });

/** Leaves out people who have no rows under their LID, because nothing must be moved for them. Nearly all people have no such rows. */
export const withPresentPeople = async (runner: Runner, instance: string, entries: readonly Entry[]): Promise<readonly Entry[]> => {
  const lids = entries.flatMap(peopleOf).map(({ chatLid }) => keyText(chatLid));
  if (lids.length === 0) return entries;
  const rows = await runner.rows<{ readonly lid: string }>(mergeStatements.present, [instance, [...new Set(lids)]]);
  // A chat that this commit creates may be under a LID as well.
  const present = new Set(rows.map(({ lid }) => lid)).union(concernedBy(entries.filter(({ kind }) => kind !== 'samePerson')).chatIds);
  return entries.flatMap((entry): readonly Entry[] => {
    if (entry.kind !== 'samePerson') return [entry];
    const people = entry.people.map(withShortKeys).filter(({ chatLid }) => present.has(chatLid));
    return people.length === 0 ? [] : [{ ...entry, people }];
  });
};

/** Moves the rows of these people. Returns false if the instance is removed or has another owner. */
export const mergeRows = async (
  runner: Runner,
  { id, epoch }: Pick<Parameters<Journal['commit']>[0], 'id' | 'epoch'>,
  people: readonly PersonPair[],
): Promise<boolean> => {
  for (const { chatId, chatLid } of people) {
    const values = [id, epoch, chatLid, chatId];
    for (;;) {
      const [moved] = await runner.rows<Moved>(mergeStatements.messages, [...values, pieceRows]);
      if (moved?.owned !== 1) return false;
      if (moved.count < pieceRows) break;
    }
    const [moved] = await runner.rows<Moved>(mergeStatements.others, values);
    if (moved?.owned !== 1) return false;
  }
  return true;
};
