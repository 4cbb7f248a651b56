/** The tables of messages, their receipts, idempotency keys of sends, and files. */

/** Tables that the first release lacks. Its version of the function `forget_receipts` deletes no counts. */
export const receiptCountTables: readonly string[] = [
  // Counts that replace old receipts, with one row for each message.
  `create table receipt_count (
    instance_id text not null,
    message_id text not null,
    delivered int not null,
    read int not null,
    played int not null,
    primary key (instance_id, message_id)
  )`,
  // The position up to which the receipts of an instance's messages were replaced by counts.
  'create table receipt_mark (instance_id text primary key, at bigint not null, seq bigint not null)',
  `create or replace function forget_receipts() returns trigger language plpgsql as $$
    begin
      delete from receipt using gone
        where gone.is_group and gone.from_me and receipt.instance_id = gone.instance_id and receipt.message_id = gone.message_id;
      delete from receipt_count using gone
        where gone.is_group and gone.from_me and receipt_count.instance_id = gone.instance_id and receipt_count.message_id = gone.message_id;
      return null;
    end $$`,
];

export const messageTables: readonly string[] = [
  `create table message (
    instance_id text not null,
    message_id text not null,
    chat_id text not null,
    seq bigserial,
    id text not null,
    chat_lid text not null,
    sender text not null,
    sender_pn text not null,
    sender_lid text not null,
    sender_name text not null,
    group_name text not null,
    is_group boolean not null,
    from_me boolean not null,
    was_sent_by_api boolean not null,
    message_type text not null,
    type text not null,
    media_type text not null,
    source text not null,
    timestamp bigint not null,
    status text not null,
    text text not null,
    quoted text not null,
    edited text not null,
    reaction text not null,
    vote text not null,
    convert_options text not null,
    button_or_list_id text not null,
    error text not null,
    content jsonb null,
    send_function text not null,
    send_payload jsonb null,
    file_url text not null,
    track_source text not null,
    track_id text not null,
    raw bytea null,
    unread boolean not null,
    deleted_at bigint not null,
    queued_send jsonb null,
    peer jsonb null,
    pinned_until bigint not null,
    audience jsonb null,
    post jsonb null,
    ai_metadata jsonb null,
    send_folder_id text not null default '',
    send_position int not null default 0,
    starred boolean not null default false,
    primary key (instance_id, message_id, chat_id)
  ) with (fillfactor = 90, toast_tuple_target = 4080)`,
  'create index message_short_id on message (instance_id, id)',
  'create index message_by_time on message (instance_id, timestamp, seq)',
  'create index message_by_chat on message (instance_id, chat_id, timestamp, seq)',
  `create index message_track_id on message (instance_id, "left"(track_id, 100)) where track_id <> ''`,
  `create index message_track_source on message (instance_id, "left"(track_source, 100), timestamp, seq) where track_source <> ''`,
  `create index message_waiting on message (instance_id, seq) where status = 'Queued'`,
  'create index message_unread on message (instance_id, chat_id, timestamp, seq) where unread',
  `create index message_by_kind on message (instance_id, message_type, timestamp, seq) where message_type not in ('Conversation', 'ExtendedTextMessage')`,
  `create index message_by_post on message (instance_id, chat_id, ((post ->> 'serverId')::bigint)) where post is not null`,
  `create index message_by_folder on message (instance_id, timestamp) where send_folder_id <> ''`,
  // Most instances have few messages, and one may have nearly all. The planner must choose plans that are good for a large instance.
  `alter table message alter column instance_id set (n_distinct = 1)`,
  // The trigger runs once for each statement that deletes messages, and deletes their receipts.
  `create trigger message_receipts after delete on message referencing old table as gone
    for each statement execute function forget_receipts()`,
  // Receipts that group members send for own messages.
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
  // Idempotency keys, with which clients repeat a request without sending twice.
  `create table send_key (
    instance_id text not null,
    hash text not null,
    request text not null,
    message_id text not null,
    at bigint not null,
    answer jsonb null,
    primary key (instance_id, hash)
  )`,
  'create index send_key_at on send_key (at)',
  // Stored files. An instance has one row for the same bytes.
  `create table file (
    name text primary key,
    instance_id text not null constraint file_instance_id_foreign references instance (id) on delete cascade,
    hash text not null,
    size bigint not null,
    mimetype text not null,
    filename text not null,
    message_id text not null,
    made_of text not null,
    created bigint not null,
    used bigint not null,
    constraint file_of_instance unique (instance_id, hash)
  )`,
  `create index file_message on file (instance_id, message_id) where message_id <> ''`,
  `create index file_made_of on file (instance_id, made_of) where made_of <> ''`,
  'create index file_hash on file (hash)',
  'create index file_used on file (used, name)',
];
