/** Migrations of the chatbot, in the order of their numbers. */
import { Migration } from '@mikro-orm/migrations';

// The chatbot: sealed keys of its agents, tokens that were used, and how its messages came about.

const statements = [
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
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('alter table message drop column ai_metadata');
    this.addSql('drop table chatbot_usage');
    this.addSql('drop table chatbot_key');
  }
}

// The service for which each key of an agent was given: a stored key goes to no other. Keys that are stored get that of their agent.

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
