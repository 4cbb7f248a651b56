/** Migrations of campaigns, of the chatbot, and of the connector to Chatwoot. */
import { Migration } from '@mikro-orm/migrations';

// Migrations of campaigns, in the order of their numbers.

// Adds the delays between messages of the asynchronous queue.

const columns = ['msg_delay_min', 'msg_delay_max'] as const;

export class SendPace extends Migration {
  override up(): void {
    for (const column of columns) this.addSql(`alter table instance add column ${column} int not null default 0`);
  }

  override down(): void {
    for (const column of columns) this.addSql(`alter table instance drop column ${column}`);
  }
}

// Adds campaigns with their recipients, the columns of messages that name them, and contacts that opted out.

const campaignStatements = [
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
  `create index campaign_recipient_by_state on campaign_recipient (instance_id, campaign_id, state, position)`,
  `create index campaign_recipient_sending on campaign_recipient (instance_id) where state = 'sending'`,
  `create table opt_out (
    instance_id text not null,
    chat_id text not null,
    at bigint not null,
    source text not null,
    primary key (instance_id, chat_id)
  )`,
  `create index opt_out_by_time on opt_out (instance_id, at, chat_id)`,
  `alter table message add column send_folder_id text not null default '', add column send_position int not null default 0`,
  `create index message_by_folder on message (instance_id, timestamp) where send_folder_id <> ''`,
];

export class Campaigns extends Migration {
  override up(): void {
    for (const statement of campaignStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index message_by_folder');
    this.addSql('alter table message drop column send_folder_id, drop column send_position');
    for (const table of ['opt_out', 'campaign_recipient', 'campaign']) this.addSql(`drop table ${table}`);
  }
}

/** Adds the index by which old paused campaigns are found. */
export class PausedCampaigns extends Migration {
  override up(): void {
    this.addSql(`create index campaign_paused on campaign (updated) where status = 'paused'`);
  }

  override down(): void {
    this.addSql('drop index campaign_paused');
  }
}

// Migrations of the chatbot, in the order of their numbers.

// Adds the sealed keys of the chatbot's agents, the used tokens, and the origin of its messages.

const chatbotStatements = [
  `create table chatbot_key (
    instance_id text not null,
    agent_id text not null,
    sealed bytea not null,
    primary key (instance_id, agent_id)
  )`,
  `create table chatbot_usage (
    instance_id text not null,
    day text not null,
    tokens bigint not null,
    primary key (instance_id, day)
  )`,
  'alter table message add column ai_metadata jsonb null',
];

export class Chatbot extends Migration {
  override up(): void {
    for (const statement of chatbotStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('alter table message drop column ai_metadata');
    this.addSql('drop table chatbot_usage');
    this.addSql('drop table chatbot_key');
  }
}

// Adds the service for which the key of an agent was given. The key is sent to no other service. Stored keys get the service of their agent.

export const bindKeys = `update chatbot_key set provider = value->>'provider', base_url = coalesce(value->>'baseUrl', '') from definition
  where definition.instance_id = chatbot_key.instance_id and kind = 'chatbotAgent' and definition.id = chatbot_key.agent_id and provider is null`;

export class AgentKeyServices extends Migration {
  override up(): void {
    this.addSql('alter table chatbot_key add column provider text null, add column base_url text null');
    this.addSql(bindKeys);
  }

  override down(): void {
    this.addSql('alter table chatbot_key drop column provider, drop column base_url');
  }
}

// Migrations of the connector to Chatwoot, in the order of their numbers.

// Adds the links between chats and conversations of Chatwoot, and between their messages.

const chatwootStatements = [
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
  `create index chatwoot_chat_conversation on chatwoot_chat (instance_id, conversation_id)`,
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
  `create index chatwoot_message_id on chatwoot_message (instance_id, id)`,
  `create index chatwoot_message_at on chatwoot_message (at)`,
];

export class Chatwoot extends Migration {
  override up(): void {
    for (const statement of chatwootStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table chatwoot_message');
    this.addSql('drop table chatwoot_chat');
  }
}

/** Adds the replies of agents in Chatwoot that are not sent yet. */
export class ChatwootReplies extends Migration {
  override up(): void {
    this.addSql(`create table chatwoot_reply (
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
      primary key (instance_id, id, kind)
    )`);
    this.addSql('create index chatwoot_reply_lane on chatwoot_reply (instance_id, conversation_id, seq)');
  }

  override down(): void {
    this.addSql('drop table chatwoot_reply');
  }
}

/** Adds the parts of agents' messages that will not be sent, with the reasons. They are stored before the next part is tried. */
export class ChatwootRefused extends Migration {
  override up(): void {
    this.addSql(`alter table chatwoot_reply add column refused jsonb not null default '[]'`);
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column refused');
  }
}

/** Adds the number of unfinished attempts to send an agent's message, so that a message that crashes the process is set aside. */
export class ChatwootTries extends Migration {
  override up(): void {
    this.addSql('alter table chatwoot_reply add column begun int not null default 0');
  }

  override down(): void {
    this.addSql('alter table chatwoot_reply drop column begun');
  }
}
