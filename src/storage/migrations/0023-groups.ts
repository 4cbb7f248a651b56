/** Groups that the account is in, with their members, and when the platform listed all of them last. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table chat_group (
    instance_id text not null,
    group_id text not null,
    name text not null,
    facts jsonb not null,
    members jsonb not null,
    member_hashes bigint[] not null,
    primary key (instance_id, group_id)
  )`,
  // Each hash is of an instance together with an address of a member.
  'create index chat_group_by_member on chat_group using gin (member_hashes)',
  `create table group_list (
    instance_id text not null,
    at bigint not null,
    primary key (instance_id)
  )`,
];

export class Groups extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table group_list');
    this.addSql('drop table chat_group');
  }
}
