/** Removes old rows in batches: messages, the single receipts of old messages, and the rows of tables that have an index on `at`. */
import type { MessageExpiry, ReceiptExpiry } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

// Removes old rows of tables that have an index on `at`.

/** Removes rows of `table` whose `at` is before $1 (Unix milliseconds), at most $2 of them, oldest first. */
export const expireStatement = (name: string, table: string): Statement => ({
  name,
  text: `with gone as (
      delete from ${table} where ctid = any(array(select ctid from ${table} where at < $1 order by at limit $2)) and at < $1 returning 1)
    select count(*)::int as count from gone`,
});

/** Runs the statement and returns the number of removed rows. */
export const expireRows =
  (database: Database, statement: Statement) =>
  async (before: number, limit: number): Promise<number> =>
    (await database.rows<{ count: number }>(statement, [before, limit]))[0]?.count ?? 0;

// Removes old messages of one instance after the other. An index sorts the messages of each instance by time.

export const expiryStatements = {
  instances: { name: 'expiry-instances', text: `select id from instance where id > $1 order by id limit $2` },
  /** $1: instance. $2: the oldest time that stays. $3: the largest number of rows. Queued messages stay. */
  messages: {
    name: 'expiry-messages',
    text: `with gone as (
        delete from message where ctid = any(array(
          select ctid from message where instance_id = $1 and timestamp < $2 and status <> 'Queued' order by timestamp, seq limit $3))
        returning 1)
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** The number of instances of one page. */
const page = 500;

export class MessageExpiryScan implements MessageExpiry {
  readonly #database: Database;
  /** The last instance whose old messages are all removed. The next call continues after this instance. */
  #done = '';

  constructor(database: Database) {
    this.#database = database;
  }

  async expire(before: number, limit: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const ids = await this.#database.rows<{ id: string }>(expiryStatements.instances, [this.#done, page]);
      for (const { id } of ids) {
        removed += await this.#remove(id, before, limit - removed);
        if (removed === limit) return removed;
        this.#done = id;
      }
      if (ids.length < page) break;
    }
    this.#done = '';
    return removed;
  }

  async #remove(instance: string, before: number, limit: number): Promise<number> {
    const [gone] = await this.#database.rows<{ count: number }>(expiryStatements.messages, [instance, before, limit]);
    return gone?.count ?? 0;
  }
}

// Replaces the receipts of old messages by counts, with one row for each message instead of one for each member of the group.

const receiptExpiryStatements = {
  /** $1: the last instance of the previous page. $2: limit. */
  instances: { name: 'receipt-expiry-instances', text: `select id from instance where id > $1 order by id limit $2` },
  /**
   * Replaces receipts after the mark of the last batch, and moves the mark. $1: instance. $2: time before which a message is old. $3: the largest number of
   * messages to look at. $4: the largest number of messages whose receipts are replaced. A receipt that arrives later stays until its message is deleted.
   */
  piece: {
    name: 'receipt-expiry-piece',
    text: `with mark as (
        select coalesce(max(at), -1) as at, coalesce(max(seq), -1) as seq from receipt_mark where instance_id = $1),
      looked as materialized (
        select message_id, timestamp, message.seq, is_group and from_me as told from message, mark
        where instance_id = $1 and (timestamp, message.seq) > (mark.at, mark.seq) and timestamp < $2 order by timestamp, message.seq limit $3),
      chosen as materialized (
        select * from looked
        where told and exists (select from receipt where receipt.instance_id = $1 and receipt.message_id = looked.message_id)
        order by timestamp, seq limit $4),
      reached as (
        select timestamp, seq from looked
        where (select count(*) from chosen) < $4 or (timestamp, seq) <= (select timestamp, seq from chosen order by timestamp desc, seq desc limit 1)
        order by timestamp desc, seq desc limit 1),
      moved as (
        insert into receipt_mark (instance_id, at, seq) select $1, timestamp, seq from reached
        on conflict (instance_id) do update set at = excluded.at, seq = excluded.seq),
      gone as (
        delete from receipt where instance_id = $1 and message_id = any(array(select message_id from chosen))
        returning message_id, read_at, played_at),
      counted as (
        insert into receipt_count (instance_id, message_id, delivered, read, played)
        select $1, message_id, count(*), count(*) filter (where read_at > 0 or played_at > 0), count(*) filter (where played_at > 0)
        from gone group by message_id
        on conflict (instance_id, message_id) do update set delivered = receipt_count.delivered + excluded.delivered,
          read = receipt_count.read + excluded.read, played = receipt_count.played + excluded.played)
      select (select count(*)::int from gone) as count, exists (select from reached) as more`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/**
 * The limits of one statement: the numbers of messages that it looks at, and of messages whose receipts it replaces. Groups have up to 1,024 members, so 50
 * messages have up to 51,200 receipts. The deletion of so many receipts takes a tenth of DATABASE_STATEMENT_MS.
 */
const mostLookedAt = 2_000;
const mostReplaced = 50;

/** The largest number of statements of one call. A statement takes less than a millisecond for an instance without old receipts. */
const statements = 20;

export class ReceiptExpiryScan implements ReceiptExpiry {
  readonly #database: Database;
  /** The last finished instance. The next call continues after this instance. */
  #done = '';

  constructor(database: Database) {
    this.#database = database;
  }

  async expire(before: number): ReturnType<ReceiptExpiry['expire']> {
    const ids = await this.#database.rows<{ id: string }>(receiptExpiryStatements.instances, [this.#done, statements]);
    for (const { id } of ids) {
      const [piece] = await this.#database.rows<{ count: number; more: boolean }>(receiptExpiryStatements.piece, [
        id,
        before,
        mostLookedAt,
        mostReplaced,
      ]);
      if (piece?.more === true) return { removed: piece.count, more: true };
      this.#done = id;
    }
    const more = ids.length === statements;
    if (!more) this.#done = '';
    return { removed: 0, more };
  }
}
