/** Migrations of people, groups, chats, channels and definitions, and of pictures and files. */
import { Migration } from '@mikro-orm/migrations';
import { ConcurrentIndexes } from './concurrent.ts';

// Adds stored files. An instance has one row for the same bytes.

const fileStatements = [
  `create table file (
    name text not null primary key,
    instance_id text not null,
    hash text not null,
    size bigint not null,
    mimetype text not null,
    filename text not null,
    message_id text not null,
    made_of text not null,
    created bigint not null,
    used bigint not null
  )`,
  `alter table file add constraint file_instance_id_foreign
    foreign key (instance_id) references instance (id) on update no action on delete cascade`,
  `alter table file add constraint file_of_instance unique (instance_id, hash)`,
  `create index file_message on file (instance_id, message_id) where message_id <> ''`,
  `create index file_made_of on file (instance_id, made_of) where made_of <> ''`,
  `create index file_hash on file (hash)`,
  `create index file_used on file (used, name)`,
];

export class Files extends Migration {
  override up(): void {
    for (const statement of fileStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table file');
  }
}

/** Adds the platform's answers about numbers, which are asked before the first message. */
export class NumberLookups extends Migration {
  override up(): void {
    this.addSql(`create table number_lookup (
      instance_id text not null,
      form text not null,
      chat_id text not null,
      at bigint not null,
      primary key (instance_id, form)
    )`);
    this.addSql('create index number_lookup_at on number_lookup (at)');
  }

  override down(): void {
    this.addSql('drop table number_lookup');
  }
}

// Adds the address book of people with and without a chat. Its first rows come from the names in chats.

const contactStatements = [
  `create table contact (
    instance_id text not null,
    contact_id text not null,
    lid text not null,
    name text not null,
    push_name text not null,
    primary key (instance_id, contact_id)
  )`,
  `create index contact_by_name on contact (instance_id, name, contact_id) where name <> ''`,
  `insert into contact (instance_id, contact_id, lid, name, push_name)
    select instance_id, chat_id, chat_lid, contact_name, push_name from chat
    where not is_group and (chat_id like '%@s.whatsapp.net' or chat_id like '%@lid') and (contact_name <> '' or push_name <> '')`,
];

export class Contacts extends Migration {
  override up(): void {
    for (const statement of contactStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table contact');
  }
}

/** Adds the verified business name of a number that was looked up. */
export class BusinessNames extends Migration {
  override up(): void {
    this.addSql(`alter table number_lookup add column business_name text not null default ''`);
  }

  override down(): void {
    this.addSql('alter table number_lookup drop column business_name');
  }
}

/** Adds the platform's answers about pictures of people and groups. */
export class Pictures extends Migration {
  override up(): void {
    this.addSql(`create table picture (
      instance_id text not null,
      id text not null,
      kind text not null,
      state text not null,
      url text not null,
      at bigint not null,
      primary key (instance_id, id, kind)
    )`);
    this.addSql('create index picture_at on picture (at)');
  }

  override down(): void {
    this.addSql('drop table picture');
  }
}

// Adds the groups of the account with their members, and the last time at which the platform listed all of them.

const groupStatements = [
  `create table chat_group (
    instance_id text not null,
    group_id text not null,
    name text not null,
    facts jsonb not null,
    members jsonb not null,
    member_hashes bigint[] not null,
    primary key (instance_id, group_id)
  )`,
  // Each hash covers the instance and an address of a member.
  'create index chat_group_by_member on chat_group using gin (member_hashes)',
  `create table group_list (
    instance_id text not null,
    at bigint not null,
    primary key (instance_id)
  )`,
];

export class Groups extends Migration {
  override up(): void {
    for (const statement of groupStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table group_list');
    this.addSql('drop table chat_group');
  }
}

// Adds an index of groups that belong to a community. Stored chats of such groups get the name of their community, which new chats have from the
// beginning.

const communityStatements = [
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
    for (const statement of communityStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql(`update chat set extra = extra - 'parent_community' where extra ? 'parent_community'`);
    this.addSql('drop index chat_group_in_community');
  }
}

// Migrations of chats, of definitions and of channels, in the order of their numbers.

/** Adds the index of chats by their LID. */
export class ChatLids extends Migration {
  override up(): void {
    this.addSql(`create index chat_by_lid on chat (instance_id, chat_lid) where chat_lid <> ''`);
  }

  override down(): void {
    this.addSql('drop index chat_by_lid');
  }
}

// Adds the definitions of an instance (labels, quick replies and lead tags), and an index of chats with labels.

const definitionStatements = [
  `create table definition (
    instance_id text not null,
    kind text not null,
    id text not null,
    value jsonb not null,
    created bigint not null,
    updated bigint not null,
    primary key (instance_id, kind, id)
  )`,
  `create index chat_by_label on chat (instance_id, last_message_timestamp, chat_id) where labels <> '{}'`,
];

export class Definitions extends Migration {
  override up(): void {
    for (const statement of definitionStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_label');
    this.addSql('drop table definition');
  }
}

// Adds two indexes of few chats: chats with one person and disappearing messages, which each login reads, and chats with lead tags.

const timerStatements = [
  `create index chat_by_timer on chat (instance_id, chat_id) include (ephemeral_expiration) where ephemeral_expiration > 0 and not is_group`,
  `create index chat_by_lead_tag on chat (instance_id, chat_id) where extra -> 'lead_tags' is not null`,
];

export class TimersAndTags extends Migration {
  override up(): void {
    for (const statement of timerStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop index chat_by_lead_tag');
    this.addSql('drop index chat_by_timer');
  }
}

// Adds the number, the views and the reactions of channel posts, and an index by their number.

const postStatements = [
  'alter table message add column post jsonb null',
  `create index message_by_post on message (instance_id, chat_id, ((post ->> 'serverId')::bigint)) where post is not null`,
];

export class Posts extends Migration {
  override up(): void {
    for (const statement of postStatements) this.addSql(statement);
  }

  override down(): void {
    this.addSql('alter table message drop column post');
  }
}

/** Adds the index of chats by the short id that `POST /chat/find` returns. */
export class ShortChatIds extends ConcurrentIndexes {
  protected override readonly indexes = ['chat_short_id on chat (instance_id, id)'];
}
