/** Shapes of chats. Fields and filters come from the contract's table, so a new field appears in the shapes automatically. */
import { type TProperties, type TSchema, Type } from 'typebox';
import {
  chatFields,
  type ChatView,
  type CompactChatView,
  compactFields,
  type FieldType,
  leadFields,
  leadTagFields,
  type LeadWish,
} from '#src/contract/views.ts';
import { Count, fields, Flag, like, LooseText, numberExample, NumberText, OneOf, optional, ref, Text } from './common.ts';

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

/** A chat with the empty value of every field, for the example. */
const plainChat = {
  owner: '5511988887777',
  ...Object.fromEntries(Object.entries(chatFields).map(([name, { type }]) => [name, emptyValues[type]])),
};

const wholeExample = { ...plainChat, ...chatExample };

export const Chat = Type.Unsafe<ChatView>({ ...ChatShape, examples: [wholeExample] });

const scalar = 'one value, with or without an operator (~ !~ = != >= > <= <) before it';

const filter = (type: readonly string[]) =>
  optional(Type.Unsafe<string | number | boolean>({ type, maxLength: 1000, description: scalar }));

const filters: Readonly<Record<FieldType, TSchema>> = {
  text: filter(['string', 'number']),
  number: filter(['string', 'number']),
  boolean: filter(['string', 'boolean']),
  list: filter(['string', 'number']),
};

export const chatPageSize = { usual: 2000, most: 5000 };
export const compactPageSize = { usual: 100, most: 200 };

/** The body of a search. Any field of a chat is a filter. */
export const FindChatsBody = Type.Unsafe<Readonly<Record<string, string | number | boolean | undefined>>>(
  Type.Object({
    operator: optional(
      OneOf(['AND', 'OR', 'and', 'or'], { description: 'AND: all filters must match. OR: one filter must match. AND if absent' }),
    ),
    sort: optional(Text(64, 'A field of the chat, with a minus before it for descending order')),
    limit: optional(Count(-1_000_000, 100_000_000, `At most ${chatPageSize.most}; ${chatPageSize.usual} when not positive`)),
    offset: optional(Count(0, 100_000_000, 'Chats to leave out')),
    compact: optional(
      Flag(`Only the fields of a list of chats; ${compactPageSize.usual} chats when no limit is given, at most ${compactPageSize.most}`),
    ),
    lead_tag: optional(Text(100, 'A whole tag, without an operator')),
    wa_fastid: filters.text,
    owner: filters.text,
    ...Object.fromEntries(Object.entries(chatFields).map(([name, { type }]) => [name, filters[type]])),
  }),
);

const inEvery: ReadonlySet<string> = new Set(compactFields);

/** A found chat. A compact chat has only some of the fields. The example is compact, because the example request asks for compact chats. */
const FoundChat = Type.Unsafe<CompactChatView & Partial<ChatView>>({
  ...Type.Object(
    Object.fromEntries(Object.entries(ChatShape.properties).map(([name, shape]) => [name, inEvery.has(name) ? shape : optional(shape)])),
  ),
  examples: [Object.fromEntries(Object.entries(wholeExample).filter(([name]) => inEvery.has(name)))],
});

const tally = fields('total unread', Type.Integer());

/** Counts over all chats of an instance. `unread` is the number of chats with unread messages. */
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

// Shapes of changes that the owner of an account makes to a chat.

export const number = { number: NumberText('The chat: its number, or its id') };

export const chatBody = <T extends TProperties>(fields: T) => Type.Object({ ...number, ...fields });

/** The durations of muting; −1 is for ever, and 0 ends the muting. In hours. */
export const muteHours = [0, 8, 168, -1] as const;

export const MuteBody = chatBody({
  muteEndTime: Type.Unsafe<(typeof muteHours)[number]>({
    type: 'integer',
    enum: [...muteHours],
    description: 'Hours: 8, 168 (a week), -1 for ever, 0 to end it',
  }),
});

export const RemoveChatBody = chatBody({
  deleteChatDB: optional(Flag('Remove the chat here')),
  deleteMessagesDB: optional(Flag('Remove the stored messages of the chat here')),
  deleteChatWhatsApp: optional(Flag('Delete the chat on the phone and its other devices')),
  clearChatWhatsApp: optional(Flag('Empty the chat on the phone and its other devices')),
});

export const RemoveChatAnswer = Type.Object({
  response: Type.String({ examples: ['Chat deletion process completed'] }),
  actions: Type.Array(Type.String(), { description: 'Completed actions' }),
  errors: Type.Array(Type.String(), { description: 'Failed actions with their reasons' }),
});

export const TimerBody = chatBody({
  duration: Type.Unsafe<string | number>({
    type: ['string', 'integer'],
    maxLength: 20,
    description: 'off, 1d, 7d or 90d; or the same in seconds',
    examples: ['7d'],
  }),
});

export const TimerAnswer = Type.Object({
  response: Type.String({ examples: ['Ephemeral timer updated successfully'] }),
  chat: ref(Chat),
  ephemeral: Type.Object({ enabled: Type.Boolean(), seconds: Type.Integer(), label: Type.String({ examples: ['7d'] }) }),
});

const noteFields = { chat: ref(Chat), wa_notes: Type.String(), source: Type.String({ examples: ['local'] }) };

export const NoteAnswer = Type.Object(noteFields);
export const EditedNoteAnswer = Type.Object({ response: Type.String(), ...noteFields });
export const ReloadNotesBody = chatBody({ force: optional(Flag('Ignored: the notes are always read anew')) });
export const EditNoteBody = chatBody({ notes: like(Text(5_000, 'The note; an empty text removes it'), 'Calls back on Monday') });

const blockList = Type.Array(Type.String(), { description: 'Ids of all blocked people', examples: [['5511999999999@s.whatsapp.net']] });

export const BlockBody = chatBody({ block: Flag('False ends it') });
export const BlockAnswer = Type.Object({ response: Type.String({ examples: ['Blocked successfully'] }), blockList });
export const BlocklistAnswer = Type.Object({ blockList });

// Shapes of leads: the fields that integrators keep about a chat.

/** The largest lengths of a text field and of the notes, in characters. */
const longest = { line: 2_000, notes: 20_000 };
const tags = { most: 100, longest: 100 };

const leadShapes: Readonly<Record<FieldType, (name: string) => TSchema>> = {
  text: (name) => Text(name === 'lead_notes' ? longest.notes : longest.line, 'An empty text takes the field away'),
  number: () => Count(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'A whole number; 0 takes the field away'),
  boolean: () => Flag('False takes the field away'),
  list: () =>
    Type.Array(Text(tags.longest, 'A tag'), { maxItems: tags.most, description: 'All tags of the lead; an empty list takes them away' }),
};

export const EditLeadBody = Type.Unsafe<{ readonly id: string | number } & LeadWish>(
  Type.Object({
    id: like(LooseText(100, 'The chat: its jid, its LID or its number', 1), numberExample),
    ...Object.fromEntries(leadFields.map((name) => [name, optional(leadShapes[chatFields[name]?.type ?? 'text'](name))])),
  }),
);

const customFields = leadFields.filter((name) => /^lead_field\d\d$/.test(name));

export const FieldsMapBody = Type.Unsafe<Readonly<Record<string, string | undefined>>>(
  Type.Object(
    Object.fromEntries(customFields.map((name) => [name, optional(Text(255, 'Name of this field; an empty text removes the name'))])),
  ),
);

/** Returns the names that a body gives to the custom fields of leads. Other keys of the body are ignored. */
export const leadFieldNames = (body: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(customFields.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name].trim()]])));

export const LeadTag = Type.Object(leadTagFields, {
  $id: 'LeadTag',
  examples: [
    {
      id: 'r1a2b3c4d5e6f70',
      name: 'negotiation',
      owner: '5511988887777',
      created: '2026-08-19 17:36:34.345Z',
      updated: '2026-08-19 17:36:34.345Z',
      kanban: true,
      kanbanOrder: 2,
    },
  ],
});

export const LeadTagsAnswer = Type.Array(ref(LeadTag));

export const EditLeadTagBody = Type.Object({
  id: optional(Text(40, 'The tag; without it one is made')),
  name: optional(Text(tags.longest, 'Name of the tag; required for a new tag')),
  kanban: optional(Flag('True if the tag is a column of the board')),
  kanbanOrder: optional(Count(0, Number.MAX_SAFE_INTEGER, 'Place among the columns')),
  delete: optional(Flag('Deletes the tag; leads keep its name')),
});

export const EditLeadTagAnswer = Type.Object({ response: Type.String(), tags: LeadTagsAnswer });
