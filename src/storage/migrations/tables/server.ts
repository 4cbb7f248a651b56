/** The tables of nodes, sign-ins, users, the audit log, alerts and figures. */

export const nodeTables: readonly string[] = [
  // `ended` is set by another node, because the clock of the database may step. `derives` is the incarnation of the last run that could read values sealed
  // under derived keys of instances.
  `create table node (
    name text primary key,
    incarnation uuid not null constraint node_incarnation_unique unique,
    until bigint not null,
    capacity int not null,
    load int not null,
    draining boolean not null,
    version text not null,
    started bigint not null,
    astray int not null default 0,
    signs boolean not null default false,
    derives uuid null,
    ended boolean not null default false,
    bus boolean null
  )`,
  `create table lease (
    instance_id text primary key constraint lease_instance_id_foreign references instance (id) on delete cascade,
    incarnation uuid not null,
    epoch int not null,
    since bigint not null,
    cause text not null
  )`,
  'create index lease_incarnation on lease (incarnation)',
  'create index lease_since on lease (since)',
  // The rate limit of handshakes in the whole cluster.
  'create table admission (name text primary key, at double precision not null)',
  `insert into admission (name, at) values ('handshakes', 0)`,
  // Sign-ins to the dashboard that are valid on every node.
  `create table sign_in (
    key text primary key,
    admin text not null,
    until bigint not null,
    user_id text null,
    address text null,
    since bigint null
  )`,
  'create index sign_in_until on sign_in (until)',
  'create index sign_in_user on sign_in (user_id)',
];

/** Tables that the first release lacks. */
export const operatorTables: readonly string[] = [
  `create table gateway_user (
    id text primary key,
    name text not null constraint gateway_user_name_unique unique,
    role text not null,
    password bytea not null,
    code_secret bytea null,
    code_step bigint not null default '0',
    version text not null,
    created_at bigint not null,
    last_sign_in_at bigint not null default '0'
  )`,
  `create table audit_entry (
    id bigserial primary key,
    at bigint not null,
    actor text not null,
    of_token boolean not null,
    who text not null,
    address text not null,
    method text not null,
    route text not null,
    instance_id text not null,
    subject text not null,
    status int not null
  )`,
  'create index audit_entry_at on audit_entry (at)',
  'create index audit_entry_of_token on audit_entry (of_token, id)',
  'create index audit_entry_who on audit_entry (who, id)',
  'create index audit_entry_instance on audit_entry (instance_id, id)',
  `create table alert (
    id text primary key,
    settings jsonb not null,
    secrets bytea not null,
    state text null,
    version int not null default 0
  )`,
  // The troubles that each node reports.
  `create table node_trouble (
    node text primary key,
    at bigint not null,
    started_at bigint not null,
    troubles jsonb not null
  )`,
  // The figures of nodes by the minute.
  `create table node_figure (
    minute int not null,
    node text not null,
    span_ms int not null,
    received int not null,
    sent int not null,
    delivered int not null,
    failed int not null,
    reconnects int not null,
    memory_bytes bigint not null,
    loop_ms int not null,
    primary key (minute, node)
  )`,
];
