/** Migrations of campaigns, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

// The pace at which the asynchronous queue of an instance sends.

const columns = ['msg_delay_min', 'msg_delay_max'] as const;

export class SendPace extends Migration {
  override up(): void {
    for (const column of columns) this.addSql(`alter table instance add column ${column} int not null default 0`);
  }

  override down(): void {
    for (const column of columns) this.addSql(`alter table instance drop column ${column}`);
  }
}

// Campaigns with their recipients, the messages that belong to them, and contacts that get none.

const statements = [
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
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index message_by_folder');
    this.addSql('alter table message drop column send_folder_id, drop column send_position');
    for (const table of ['opt_out', 'campaign_recipient', 'campaign']) this.addSql(`drop table ${table}`);
  }
}

/** Campaigns that were paused long ago are found by their age. */
export class PausedCampaigns extends Migration {
  override up(): void {
    this.addSql(`create index campaign_paused on campaign (updated) where status = 'paused'`);
  }

  override down(): void {
    this.addSql('drop index campaign_paused');
  }
}
