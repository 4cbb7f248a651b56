/**
 * Moves what is stored under the LID of a person to the number. The statements run in the transaction of the commit that writes the chat, in pieces, so
 * that none meets the time limit of statements.
 */
import type { Entry, PersonPair } from '#actors/model.ts';
import type { Journal } from '#actors/ports.ts';
import { owned } from '../ownership.ts';
import type { Runner, Statement } from '../postgres/database.ts';
import { keyText } from '../postgres/parameters.ts';
import { concernedBy } from './known-rows.ts';
import { pieceRows } from './pieces.ts';

/** $3: the LID. $4: the number. A message that is stored under both addresses stays under the number. */
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
  /** $5: the number of rows. */
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
  /** Moves the conversation in Chatwoot and the opt-out of campaigns, unless the number has its own. */
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
  /** Rows that were looked at. */
  readonly count: number;
}

const peopleOf = (entry: Entry): readonly PersonPair[] => (entry.kind === 'samePerson' ? entry.people : []);

const withShortKeys = ({ chatId, chatLid }: PersonPair): PersonPair => ({ chatId: keyText(chatId), chatLid: keyText(chatLid) });

/** Leaves out people without rows under their LID, which are nearly all. */
export const withPresentPeople = async (runner: Runner, instance: string, entries: readonly Entry[]): Promise<readonly Entry[]> => {
  const lids = entries.flatMap(peopleOf).map(({ chatLid }) => keyText(chatLid));
  if (lids.length === 0) return entries;
  const rows = await runner.rows<{ readonly lid: string }>(mergeStatements.present, [instance, [...new Set(lids)]]);
  // Chats that this commit makes count as well.
  const present = new Set(rows.map(({ lid }) => lid)).union(concernedBy(entries.filter(({ kind }) => kind !== 'samePerson')).chatIds);
  return entries.flatMap((entry): readonly Entry[] => {
    if (entry.kind !== 'samePerson') return [entry];
    const people = entry.people.map(withShortKeys).filter(({ chatLid }) => present.has(chatLid));
    return people.length === 0 ? [] : [{ ...entry, people }];
  });
};

/** Moves the rows of these people. Returns false if the instance has another owner, or is gone. */
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
