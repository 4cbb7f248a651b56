/** Groups that belong to a community: found by an index of their own, and named in the chats that were stored before chats named communities. */
import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create index chat_group_in_community on chat_group (instance_id, group_id) where facts ->> 'parent' <> ''`,
  `update chat set extra = extra || jsonb_build_object('parent_community', jsonb_build_object(
      'id', sub.facts ->> 'parent',
      'name', coalesce(community.name, ''),
      'image', '',
      'preview', '',
      'defaultGroup', coalesce((select news.group_id from chat_group as news where news.instance_id = sub.instance_id
        and news.facts ->> 'parent' = sub.facts ->> 'parent' and (news.facts ->> 'isDefaultSubgroup')::boolean limit 1), '')))
    from chat_group as sub
    left join chat_group as community on community.instance_id = sub.instance_id and community.group_id = sub.facts ->> 'parent'
    where sub.facts ->> 'parent' <> '' and chat.instance_id = sub.instance_id and chat.chat_id = sub.group_id`,
];

export class CommunityMembers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    this.addSql(`update chat set extra = extra - 'parent_community' where extra ? 'parent_community'`);
    this.addSql('drop index chat_group_in_community');
  }
}
