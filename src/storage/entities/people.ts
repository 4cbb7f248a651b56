/** The tables of chats, contacts, groups, and the platform's answers about numbers and pictures. */
import { defineEntity, p } from '@mikro-orm/core';
import type { GroupFacts } from '#actors/model.ts';
import { chatColumns, type FieldType } from '#src/contract/views.ts';
import { time } from './instance.ts';

// The table of contacts.

/** The address book. There is no foreign key, for the reason in `MessageEntity`. */
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
 * Groups, with all members in the row of their group. A large account is in hundreds of groups, and a row for each member would mean a hundred times
 * as many rows.
 */
export const GroupEntity = defineEntity({
  name: 'ChatGroup',
  tableName: 'chat_group',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    groupId: p.text().primary(),
    /** The subject. */
    name: p.text(),
    facts: p.json<GroupFacts>(),
    /** Members as arrays of id, phone JID, LID, and rank: 0 for a plain member, 1 for an admin, 2 for the superadmin. */
    members: p.json<readonly (readonly [string, string, string, number])[]>(),
    /** Hashes of the instance together with each address of each member. The search for common groups uses them. */
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

/** The last time at which the platform listed all groups of an instance. */
export const GroupListEntity = defineEntity({
  name: 'GroupList',
  tableName: 'group_list',
  properties: { instanceId: p.text().primary(), at: time() },
});

// The table of number look-ups.

/** The platform's answers about numbers. `form`: the chat id that was looked up. `chatId`: the chat id of the account; '' if there is no account. */
export const NumberLookupEntity = defineEntity({
  name: 'NumberLookup',
  tableName: 'number_lookup',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    form: p.text().primary(),
    chatId: p.text(),
    businessName: p.text().default(''),
    at: time(),
  },
  indexes: [{ name: 'number_lookup_at', properties: ['at'] }],
});

// The table of picture look-ups.

/** The platform's answers about pictures. `id`: the chat. `kind`: the whole picture or its preview. */
export const PictureEntity = defineEntity({
  name: 'Picture',
  tableName: 'picture',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
    instanceId: p.text().primary(),
    id: p.text().primary(),
    kind: p.text().primary(),
    state: p.text(),
    url: p.text(),
    at: time(),
  },
  indexes: [{ name: 'picture_at', properties: ['at'] }],
});

// The table of chats. Its columns are derived from `chatColumns`.

const properties = { text: () => p.text(), number: time, boolean: () => p.boolean(), list: () => p.array() } satisfies Record<
  FieldType,
  () => object
>;

/** The columns, all with one type. MikroORM never loads a chat as an entity, so the types of the columns do not matter. */
type Properties = Readonly<Record<keyof typeof chatColumns, ReturnType<typeof p.text>>>;

const { chatId: _key, ...fields } = Object.fromEntries(
  Object.entries(chatColumns).map(([key, type]) => [key, properties[type]()]),
) as unknown as Properties;

export const ChatEntity = defineEntity({
  name: 'Chat',
  tableName: 'chat',
  properties: {
    /** There is no foreign key, for the reason in `MessageEntity`. */
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
    { name: 'chat_blocked', expression: `create index "chat_blocked" on "chat" ("instance_id", "chat_id") where blocked` },
    {
      name: 'chat_by_lead_tag',
      expression: `create index "chat_by_lead_tag" on "chat" ("instance_id", "chat_id") where extra -> 'lead_tags' is not null`,
    },
  ],
});
