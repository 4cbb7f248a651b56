/** Shapes of chats; fields and filters come from the contract's table, so that a new field is known here at once. */
import { type TSchema, Type } from 'typebox';
import { chatFields, type chatView, compactFields, type FieldType } from '#src/contract/views.ts';
import { Count, fields, Flag, OneOf, optional, Text } from './common.ts';

const shapes: Readonly<Record<FieldType, TSchema>> = {
  text: Type.String(),
  number: Type.Integer(),
  boolean: Type.Boolean(),
  list: Type.Array(Type.String()),
};

const emptyValues: Readonly<Record<FieldType, unknown>> = { text: '', number: 0, boolean: false, list: [] };

const chatExample = {
  id: 'r00112233445566',
  wa_chatid: '5511999999999@s.whatsapp.net',
  wa_fastid: '5511988887777:5511999999999',
  name: 'Ana',
  phone: '+55 11 99999-9999',
  wa_label: ['5511988887777:7'],
  wa_unreadCount: 2,
  wa_lastMsgTimestamp: 1_770_146_178_000,
};

const ChatShape = Type.Object(
  {
    ...Object.fromEntries(Object.entries(chatFields).map(([name, { type }]) => [name, shapes[type]])),
    ...fields('wa_fastid owner', Type.String()),
    wa_identityChangedAt: optional(
      Type.Integer({
        description: 'Unix milliseconds. Only when the phone of the contact got other keys: a new phone, or another person with the number',
      }),
    ),
    parent_community: optional(
      Type.Object(fields('jid name image_url image_preview_url default_subgroup_jid', Type.String()), {
        description: 'Only in a subgroup',
      }),
    ),
  },
  { $id: 'Chat' },
);

/** Every field is in the example, as in an answer. */
const plainChat = {
  owner: '5511988887777',
  ...Object.fromEntries(Object.entries(chatFields).map(([name, { type }]) => [name, emptyValues[type]])),
};

const wholeExample = { ...plainChat, ...chatExample };

export const Chat = Type.Unsafe<ReturnType<typeof chatView>>({ ...ChatShape, examples: [wholeExample] });

const scalar = 'one value, with or without an operator (~ !~ = != >= > <= <) before it';

const filter = (type: readonly string[]) =>
  optional(Type.Unsafe<string | number | boolean>({ type, maxLength: 1000, description: scalar }));

const filters: Readonly<Record<FieldType, TSchema>> = {
  text: filter(['string', 'number']),
  number: filter(['string', 'number']),
  boolean: filter(['string', 'boolean']),
  list: filter(['string', 'number']),
};

export const chatPage = { usual: 2000, most: 5000 };
export const compactPage = { usual: 100, most: 200 };

/** Any field of a chat is a filter. */
export const FindChatsBody = Type.Unsafe<Readonly<Record<string, string | number | boolean | undefined>>>(
  Type.Object({
    operator: optional(
      OneOf(['AND', 'OR', 'and', 'or'], { description: 'Whether all filters must match or one of them; AND when left out' }),
    ),
    sort: optional(Text(64, 'A field of the chat, with a minus before it for descending order')),
    limit: optional(Count(-1_000_000, 100_000_000, `At most ${chatPage.most}; ${chatPage.usual} when not positive`)),
    offset: optional(Count(0, 100_000_000, 'Chats to leave out')),
    compact: optional(
      Flag(`Only the fields of a list of chats; ${compactPage.usual} chats when no limit is given, at most ${compactPage.most}`),
    ),
    lead_tag: optional(Text(100, 'A whole tag, without an operator')),
    wa_fastid: filters.text,
    owner: filters.text,
    ...Object.fromEntries(Object.entries(chatFields).map(([name, { type }]) => [name, filters[type]])),
  }),
);

const inEvery: ReadonlySet<string> = new Set(compactFields);

/** A compact chat has some of the fields. */
const FoundChat = Type.Unsafe<ReturnType<typeof chatView>>({
  ...Type.Object(
    Object.fromEntries(Object.entries(ChatShape.properties).map(([name, shape]) => [name, inEvery.has(name) ? shape : optional(shape)])),
  ),
  examples: [wholeExample],
});

const tally = fields('total unread', Type.Integer());

/** Counts over all chats of an instance; `unread`: how many of them have unread messages. */
export const ChatCounts = Type.Object({
  ...fields('total_chats archived_chats group_chats blocked_chats', Type.Object(tally)),
  open_chats: Type.Object(tally, { description: 'Neither archived nor blocked' }),
  label_counts: Type.Array(Type.Object({ ...fields('label labelid', Type.String()), ...tally })),
  attendant_counts: Type.Array(Type.Object({ attendant_id: Type.String(), ...tally })),
});

export const ChatsAnswer = Type.Object({
  chats: Type.Array(FoundChat),
  totalChatsStats: ChatCounts,
  pagination: Type.Object({
    ...fields('totalRecords limit offset nextOffset', Type.Integer()),
    hasMore: Type.Boolean({ description: 'Go on at nextOffset; a page may end before its limit when it is large' }),
  }),
});
