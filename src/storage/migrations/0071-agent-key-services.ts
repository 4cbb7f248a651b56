/** The service for which each key of an agent was given: a stored key goes to no other. Keys that are stored get that of their agent. */
import { Migration } from '@mikro-orm/migrations';

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
