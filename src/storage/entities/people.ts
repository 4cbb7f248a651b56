/** The tables of chats, people and groups: chats, contacts, groups, numbers and pictures that the platform was asked about. */
import { defineEntity, p } from '@mikro-orm/core';
import type { GroupFacts } from '#actors/model.ts';
import { chatColumns, type FieldType } from '#src/contract/views.ts';
import { time } from './instance.ts';

// The table of contacts.

/** Without a foreign key, as chats are. */
export const ContactEntity = defineEntity({
  name: 'Contact',
  tableName: 'contact',
  properties: {
    instanceId: p.text().primary(),
    contactId: p.text().primary(),
    lid: p.text(),
    name: p.text(),
    pushName: p.text(),
  },
  indexes: [
    {
      name: 'contact_by_name',
      expression: `create index "contact_by_name" on "contact" ("instance_id", "name", "contact_id") where name <> ''`,
    },
  ],
});

// The tables of groups.

/**
 * One row per group, with all its members. A large account is in hundreds of groups, and rows for single members would be a hundred times
 * as many.
 */
export const GroupEntity = defineEntity({
  name: 'ChatGroup',
  tableName: 'chat_group',
  properties: {
    /** Without a foreign key, as chats are. */
    instanceId: p.text().primary(),
    groupId: p.text().primary(),
    /** The subject. */
    name: p.text(),
    facts: p.json<GroupFacts>(),
    /** Arrays of id, phone jid, LID, and rank: 0 for none, 1 for an admin, 2 for the superadmin. */
    members: p.json<readonly (readonly [string, string, string, number])[]>(),
    /** Hashes of each member's addresses, together with the instance. A search for the groups of a person uses them. */
    memberHashes: p.array().columnType('bigint[]'),
  },
  indexes: [
    { name: 'chat_group_by_member', expression: 'create index "chat_group_by_member" on "chat_group" using gin ("member_hashes")' },
    {
      name: 'chat_group_in_community',
      expression: `create index "chat_group_in_community" on "chat_group" ("instance_id", "group_id") where facts ->> 'parent' <> ''`,
    },
  ],
});

/** The time at which the platform listed all groups of an instance last. */
export const GroupListEntity = defineEntity({
  name: 'GroupList',
  tableName: 'group_list',
  properties: { instanceId: p.text().primary(), at: time() },
});

// The table of numbers that the platform was asked about.

/** `form`: the chat id of the number as it was written. `chatId`: the chat id of the account; '' if there is none. */
export const NumberLookupEntity = defineEntity({
  name: 'NumberLookup',
  tableName: 'number_lookup',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    form: p.text().primary(),
    chatId: p.text(),
    businessName: p.text().default(''),
    at: time(),
  },
  indexes: [{ name: 'number_lookup_at', properties: ['at'] }],
});

// The table of pictures that the platform was asked about.

/** `id`: of the chat; `kind`: the whole picture or its preview. */
export const PictureEntity = defineEntity({
  name: 'Picture',
  tableName: 'picture',
  properties: {
    /** Without a foreign key, as messages are. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text().primary(),
    state: p.text(),
    url: p.text(),
    at: time(),
  },
  indexes: [{ name: 'picture_at', properties: ['at'] }],
});

// The table of chats, made of the table of their fields.

const properties = { text: () => p.text(), number: time, boolean: () => p.boolean(), list: () => p.array() } satisfies Record<
  FieldType,
  () => object
>;

/** No unit of work touches a chat, so that only the names matter to the compiler. */
type Properties = Readonly<Record<keyof typeof chatColumns, ReturnType<typeof p.text>>>;

const { chatId: _key, ...fields } = Object.fromEntries(
  Object.entries(chatColumns).map(([key, type]) => [key, properties[type]()]),
) as unknown as Properties;

export const ChatEntity = defineEntity({
  name: 'Chat',
  tableName: 'chat',
  properties: {
    /** Without a foreign key: every write checks that its writer owns the instance, and removals know the table. */
    instanceId: p.text().primary(),
    chatId: p.text().primary(),
    ...fields,
    extra: p.json<Readonly<Record<string, unknown>>>(),
  },
  indexes: [
    { name: 'chat_by_time', properties: ['instanceId', 'lastMessageTimestamp', 'chatId'] },
    { name: 'chat_short_id', properties: ['instanceId', 'id'] },
    { name: 'chat_by_lid', expression: `create index "chat_by_lid" on "chat" ("instance_id", "chat_lid") where chat_lid <> ''` },
    {
      name: 'chat_by_label',
      expression: `create index "chat_by_label" on "chat" ("instance_id", "last_message_timestamp", "chat_id") where labels <> '{}'`,
    },
    {
      name: 'chat_by_timer',
      expression: `create index "chat_by_timer" on "chat" ("instance_id", "chat_id") include ("ephemeral_expiration") where ephemeral_expiration > 0 and not is_group`,
    },
    {
      name: 'chat_by_lead_tag',
      expression: `create index "chat_by_lead_tag" on "chat" ("instance_id", "chat_id") where extra -> 'lead_tags' is not null`,
    },
  ],
});
