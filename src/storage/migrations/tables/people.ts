/** The tables of chats, contacts, groups, definitions, and answers of the platform about people. */

export const peopleTables: readonly string[] = [
  `create table chat (
    instance_id text not null,
    chat_id text not null,
    id text not null,
    chat_lid text not null,
    is_group boolean not null,
    phone text not null,
    name text not null,
    contact_name text not null,
    push_name text not null,
    image text not null,
    image_preview text not null,
    archived boolean not null,
    blocked boolean not null,
    pinned boolean not null,
    group_admin boolean not null,
    group_announce boolean not null,
    group_community boolean not null,
    group_member boolean not null,
    ephemeral_expiration bigint not null,
    mute_end_time bigint not null,
    labels text[] not null,
    notes text not null,
    unread_count bigint not null,
    last_message_text text not null,
    last_message_type text not null,
    last_message_sender text not null,
    last_message_timestamp bigint not null,
    extra jsonb not null,
    primary key (instance_id, chat_id)
  ) with (fillfactor = 80)`,
  'create index chat_by_time on chat (instance_id, last_message_timestamp, chat_id)',
  `create index chat_by_lid on chat (instance_id, chat_lid) where chat_lid <> ''`,
  `create index chat_by_label on chat (instance_id, last_message_timestamp, chat_id) where labels <> '{}'`,
  'create index chat_by_timer on chat (instance_id, chat_id) include (ephemeral_expiration) where ephemeral_expiration > 0 and not is_group',
  `create index chat_by_lead_tag on chat (instance_id, chat_id) where extra -> 'lead_tags' is not null`,
  'create index chat_short_id on chat (instance_id, id)',
  // The address book of people with and without a chat.
  `create table contact (
    instance_id text not null,
    contact_id text not null,
    lid text not null,
    name text not null,
    push_name text not null,
    primary key (instance_id, contact_id)
  )`,
  `create index contact_by_name on contact (instance_id, name, contact_id) where name <> ''`,
  // Each of `member_hashes` is the hash of the instance and an address of a member.
  `create table chat_group (
    instance_id text not null,
    group_id text not null,
    name text not null,
    facts jsonb not null,
    members jsonb not null,
    member_hashes bigint[] not null,
    primary key (instance_id, group_id)
  )`,
  'create index chat_group_by_member on chat_group using gin (member_hashes)',
  `create index chat_group_in_community on chat_group (instance_id, group_id) where facts ->> 'parent' <> ''`,
  // The last time at which the platform listed all groups of the account.
  'create table group_list (instance_id text primary key, at bigint not null)',
  // Labels, quick replies and lead tags.
  `create table definition (
    instance_id text not null,
    kind text not null,
    id text not null,
    value jsonb not null,
    created bigint not null,
    updated bigint not null,
    primary key (instance_id, kind, id)
  )`,
  // The platform's answers about numbers. A number is looked up before the first message to it.
  `create table number_lookup (
    instance_id text not null,
    form text not null,
    chat_id text not null,
    at bigint not null,
    business_name text not null default '',
    primary key (instance_id, form)
  )`,
  'create index number_lookup_at on number_lookup (at)',
  // The platform's answers about pictures of people and groups.
  `create table picture (
    instance_id text not null,
    id text not null,
    kind text not null,
    state text not null,
    url text not null,
    at bigint not null,
    primary key (instance_id, id, kind)
  )`,
  'create index picture_at on picture (at)',
];
