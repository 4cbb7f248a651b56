/** The tables of campaigns, of the chatbot, and of the connector to Chatwoot. */

export const automationTables: readonly string[] = [
  `create table campaign (
    instance_id text not null,
    id text not null,
    info text not null,
    status text not null,
    reason text not null default '',
    shared jsonb null,
    scheduled_for bigint not null,
    delay_min int not null,
    delay_max int not null,
    total int not null,
    sent int not null default 0,
    failed int not null default 0,
    skipped int not null default 0,
    unknown int not null default 0,
    delivered int not null default 0,
    read int not null default 0,
    played int not null default 0,
    next int not null default 0,
    created bigint not null,
    updated bigint not null,
    started_at bigint not null default '0',
    finished_at bigint not null default '0',
    primary key (instance_id, id)
  )`,
  `create index campaign_active on campaign (instance_id) where status in ('waiting', 'sending')`,
  `create index campaign_done on campaign (finished_at) where status = 'done'`,
  `create index campaign_deleting on campaign (instance_id, id) where status = 'deleting'`,
  `create index campaign_paused on campaign (updated) where status = 'paused'`,
  `create table campaign_recipient (
    instance_id text not null,
    campaign_id text not null,
    position int not null,
    number text not null,
    chat_id text not null,
    state text not null,
    error text not null,
    message_id text not null default '',
    at bigint not null default '0',
    own jsonb null,
    primary key (instance_id, campaign_id, position)
  )`,
  'create index campaign_recipient_by_state on campaign_recipient (instance_id, campaign_id, state, position)',
  `create index campaign_recipient_sending on campaign_recipient (instance_id) where state = 'sending'`,
  // Contacts that opted out of campaigns.
  `create table opt_out (
    instance_id text not null,
    chat_id text not null,
    at bigint not null,
    source text not null,
    primary key (instance_id, chat_id)
  )`,
  'create index opt_out_by_time on opt_out (instance_id, at, chat_id)',
  // The key of an agent is sent only to the service for which it was given.
  `create table chatbot_key (
    instance_id text not null,
    agent_id text not null,
    sealed bytea not null,
    provider text null,
    base_url text null,
    primary key (instance_id, agent_id)
  )`,
  `create table chatbot_usage (
    instance_id text not null,
    day text not null,
    tokens bigint not null,
    primary key (instance_id, day)
  )`,
  // Links between chats and conversations of Chatwoot.
  `create table chatwoot_chat (
    instance_id text not null,
    chat_id text not null,
    inbox text not null,
    contact_id bigint not null,
    source_id text not null,
    conversation_id bigint not null,
    name text not null,
    image text not null,
    primary key (instance_id, chat_id)
  )`,
  'create index chatwoot_chat_conversation on chatwoot_chat (instance_id, conversation_id)',
  // Links between messages of chats and of conversations.
  `create table chatwoot_message (
    instance_id text not null,
    key text not null,
    inbox text not null,
    conversation_id bigint not null,
    id bigint not null,
    progress int not null,
    at bigint not null,
    primary key (instance_id, key)
  ) with (fillfactor = 80)`,
  'create index chatwoot_message_id on chatwoot_message (instance_id, id)',
  'create index chatwoot_message_at on chatwoot_message (at)',
  // Replies of agents in Chatwoot that are not sent yet. `begun` counts unfinished attempts, so that a message that crashes the process is set aside.
  `create table chatwoot_reply (
    instance_id text not null,
    id bigint not null,
    kind text not null,
    inbox text not null,
    seq bigserial,
    conversation_id bigint not null,
    news jsonb not null,
    at bigint not null,
    not_before bigint not null,
    attempts int not null,
    failure text not null,
    refused jsonb not null default '[]',
    begun int not null default 0,
    primary key (instance_id, id, kind)
  )`,
  'create index chatwoot_reply_lane on chatwoot_reply (instance_id, conversation_id, seq)',
];
