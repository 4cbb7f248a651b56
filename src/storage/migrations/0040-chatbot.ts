/** The chatbot: sealed keys of its agents, tokens that were used, and how its messages came about. */
import { Migration } from '@mikro-orm/migrations';

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
