/** The tables of instances, of their sessions and keys, and of the inbound log. */

/** Columns that a running session writes. Other nodes are not told if only these columns change. */
const own = ['epoch', 'last_active_at', 'updated', 'changed', 'last_disconnect', 'last_disconnect_reason', 'last_disconnect_cause'];

/** Returns SQL for a row without the columns of `own`. The result includes columns of later migrations. */
const rest = (row: string): string => `(to_jsonb(${row}) - array[${own.map((name) => `'${name}'`).join(', ')}])`;

/** Numbers the changes of a table, so that a node finds them by one index look-up. */
export const noteChanges = (table: string): readonly string[] => [
  `create trigger ${table}_made before insert on ${table} for each row execute function note_change()`,
  `create trigger ${table}_changed before update on ${table} for each row when (${rest('old')} is distinct from ${rest('new')})
    execute function note_change()`,
];

export const instanceTables: readonly string[] = [
  'create sequence change_version',
  `create function note_change() returns trigger language plpgsql as $$ begin new.changed = nextval('change_version'); return new; end $$`,
  `create table instance (
    id text primary key,
    name text not null,
    token_hash bytea not null constraint instance_token_hash_unique unique,
    token bytea not null,
    wanted text not null,
    epoch int not null,
    owner text not null,
    jid text not null,
    lid text not null,
    profile_name text not null,
    profile_pic_url text not null,
    is_business boolean not null,
    platform text not null,
    system_name text not null,
    last_disconnect bigint null,
    last_disconnect_reason text not null,
    last_disconnect_cause text not null,
    admin_field01 text not null,
    admin_field02 text not null,
    ai_apikey bytea not null,
    chatbot_enabled boolean not null,
    chatbot_ignore_groups boolean not null,
    chatbot_stop_conversation text not null,
    chatbot_stop_minutes int not null,
    chatbot_stop_when_you_send_msg int not null,
    fields_map jsonb null,
    last_active_at bigint not null,
    created bigint not null,
    updated bigint not null,
    removed boolean not null default false,
    msg_delay_min int not null default 0,
    msg_delay_max int not null default 0,
    proxy bytea null,
    changed bigint not null default '0',
    browser text not null default '',
    system text not null default '',
    account_leaves boolean not null default false
  ) with (fillfactor = 70)`,
  'create index instance_removed on instance (id) where removed',
  'create index instance_changed on instance (changed)',
  ...noteChanges('instance'),
  'create table setting (name text primary key, value text not null)',
  // Free space in pages (fillfactor) keeps an updated row in its page.
  `create table credential (
    instance_id text primary key constraint credential_instance_id_foreign references instance (id) on delete cascade,
    sealed bytea not null
  ) with (fillfactor = 50, toast_tuple_target = 4080)`,
  `create table retired_credential (
    instance_id text primary key constraint retired_credential_instance_id_foreign references instance (id) on delete cascade,
    sealed bytea not null,
    reason text not null,
    at bigint not null
  )`,
  `create table signal_key (
    instance_id text not null,
    type text not null,
    id text not null,
    sealed bytea not null,
    primary key (instance_id, type, id)
  ) with (fillfactor = 70, toast_tuple_target = 4080)`,
  `create table retired_key (
    instance_id text not null constraint retired_key_instance_id_foreign references instance (id) on delete cascade,
    type text not null,
    id text not null,
    sealed bytea not null,
    primary key (instance_id, type, id)
  )`,
  // Received stanzas whose messages may not be stored yet. The rows live for milliseconds, so the table gets an early autovacuum.
  `create table inbound (
    instance_id text not null,
    seq bigint not null,
    tries int not null,
    at bigint not null,
    sealed bytea not null,
    primary key (instance_id, seq)
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
];

/** Tables that the first release lacks. */
export const sessionTables: readonly string[] = [
  // Instances whose session ended and whose keys are being deleted in batches.
  'create table leaving_keys (instance_id text primary key)',
  // Entries that the database refused because of their data. They are sealed, and stay until an operator retries or discards them.
  `create table refused_entry (
    instance_id text not null,
    id text not null,
    kind text not null,
    error text not null,
    tries int not null,
    at bigint not null,
    sealed bytea not null,
    primary key (instance_id, id)
  )`,
  // The last steps of each session through its state charts, which the dashboard shows after a restart.
  'create table step_log (instance_id text primary key, steps jsonb not null)',
  // One-time codes, with which the browser of an account's owner answers the platform's passkey request.
  `create table passkey_code (
    instance_id text primary key constraint passkey_code_instance_id_foreign references instance (id) on delete cascade,
    hash text not null constraint passkey_code_hash_unique unique,
    used boolean not null,
    until bigint not null
  )`,
];
