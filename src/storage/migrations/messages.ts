/** Migrations of messages, their receipts and the keys of sends, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

/** Adds the queue data of asynchronous sends to messages. Earlier versions read the queue from `send_payload`. */
export class QueuedSends extends Migration {
  override up(): void {
    this.addSql('alter table message add column queued_send jsonb null');
    // The queued messages of an earlier version are composed already, and have no delay and no read receipts before them.
    this.addSql(`update message set queued_send = '{"send":null,"delay":0,"readChat":false,"readMessages":false}'
      where status = 'Queued' and send_payload->>'async' = 'true'`);
  }

  override down(): void {
    this.addSql('alter table message drop column queued_send');
  }
}

/** Adds the other party of a call to messages, because a call is stored as a message. */
export class Calls extends Migration {
  override up(): void {
    this.addSql('alter table message add column peer jsonb null');
  }

  override down(): void {
    this.addSql('alter table message drop column peer');
  }
}

/** Adds idempotency keys, with which clients repeat a request without sending twice. */
export class SendKeys extends Migration {
  override up(): void {
    this.addSql(`create table send_key (
      instance_id text not null,
      hash text not null,
      request text not null,
      message_id text not null,
      at bigint not null,
      answer jsonb null,
      primary key (instance_id, hash)
    )`);
    this.addSql('create index send_key_at on send_key (at)');
  }

  override down(): void {
    this.addSql('drop table send_key');
  }
}

/** Adds the end of the pin to messages, and clears the content of deleted messages. */
export class MessageChanges extends Migration {
  override up(): void {
    this.addSql(`alter table message add column pinned_until bigint not null default 0`);
    this.addSql(`alter table message alter column pinned_until drop default`);
    this.addSql(
      `update message set status = 'Deleted', text = '', convert_options = '', error = '', content = null, raw = null where deleted_at <> 0`,
    );
  }

  override down(): void {
    this.addSql('alter table message drop column pinned_until');
  }
}

// Adds the receipts of group members for own messages, and the index of messages by kind.

const receiptStatements = [
  `create table receipt (
    instance_id text not null,
    message_id text not null,
    member text not null,
    member_pn text not null,
    delivered_at bigint not null,
    read_at bigint not null,
    played_at bigint not null,
    primary key (instance_id, message_id, member)
  ) with (fillfactor = 80)`,
  // The trigger runs once for each statement that deletes messages, and deletes their receipts.
  `create function forget_receipts() returns trigger language plpgsql as $$
    begin
      delete from receipt using gone
        where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
      return null;
    end $$`,
  `create trigger message_receipts after delete on message referencing old table as gone
    for each statement execute function forget_receipts()`,
  `create index message_by_kind on message (instance_id, message_type, timestamp, seq)
    where message_type not in ('Conversation', 'ExtendedTextMessage')`,
];

export class Receipts extends Migration {
  override up(): void {
    for (const statement of receiptStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index message_by_kind');
    this.addSql('drop trigger message_receipts on message');
    this.addSql('drop function forget_receipts');
    this.addSql('drop table receipt');
  }
}

/** Adds the audience of own status posts. */
export class StatusAudiences extends Migration {
  override up(): void {
    this.addSql('alter table message add column audience jsonb null');
  }

  override down(): void {
    this.addSql('alter table message drop column audience');
  }
}

/**
 * Fixes the planner's estimate of messages per instance. Most instances have few messages, and one may have nearly all. The planner must
 * choose plans that are good for a large instance.
 */
export class MessageStatistics extends Migration {
  override up(): void {
    this.addSql('alter table message alter column instance_id set (n_distinct = 1)');
    this.addSql('analyze message (instance_id)');
  }

  override down(): void {
    this.addSql('alter table message alter column instance_id reset (n_distinct)');
  }
}

/** Adds the mark of starred messages. */
export class Stars extends Migration {
  override up(): void {
    this.addSql('alter table message add column starred boolean not null default false');
  }

  override down(): void {
    this.addSql('alter table message drop column starred');
  }
}

// Adds the counts that replace old receipts, with one row for each message, and the last message of each instance whose receipts were replaced.

const receiptCountStatements = [
  `create table receipt_count (
    instance_id text not null,
    message_id text not null,
    delivered int not null,
    read int not null,
    played int not null,
    primary key (instance_id, message_id)
  )`,
  `create table receipt_mark (instance_id text not null, at bigint not null, seq bigint not null, primary key (instance_id))`,
  `create or replace function forget_receipts() returns trigger language plpgsql as $$
    begin
      delete from receipt using gone
        where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
      delete from receipt_count using gone
        where gone.is_group and gone.from_me and receipt_count.instance_id = gone.instance_id and receipt_count.message_id = gone.message_id;
      return null;
    end $$`,
];

export class ReceiptCounts extends Migration {
  override up(): void {
    for (const statement of receiptCountStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql(`create or replace function forget_receipts() returns trigger language plpgsql as $$
      begin
        delete from receipt using gone
          where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
        return null;
      end $$`);
    this.addSql('drop table receipt_mark');
    this.addSql('drop table receipt_count');
  }
}
