/** The table of chats, made of the table of their fields. */
import { defineEntity, p } from '@mikro-orm/core';
import { chatColumns, type FieldType } from '#src/contract/views.ts';
import { time } from './instance.ts';

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
