/**
 * The only table of the fields of a chat. The table makes the columns, the entity, the empty value, the filters and the view, so a new field is one line.
 * A field that the model names has its own column, which a migration adds. All other fields are stored in the JSON column `extra`.
 */
import type { Chat } from '#actors/model.ts';

interface Values {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly list: readonly string[];
}

export type FieldType = keyof Values;

/** The names of the fields of the model whose values have this type. */
type KeysOf<T extends FieldType> = { [K in keyof Chat]: Chat[K] extends Values[T] ? K : never }[keyof Chat];

/** Fields of the model that have a column of their own. */
export type ChatKey = Exclude<keyof Chat, 'extra'>;

interface Kept<K extends ChatKey | null, T extends FieldType = FieldType> {
  readonly type: T;
  /** The name of the field in the model, and of its column. Null for a field in `extra`, whose key in `extra` is its name in the API. */
  readonly key: K;
}

export type ChatField = Kept<ChatKey | null>;

const column = <T extends FieldType, K extends KeysOf<T> & ChatKey>(type: T, key: K): Kept<K, T> => ({ type, key });
const extra = <T extends FieldType>(type: T): Kept<null, T> => ({ type, key: null });

/** The fields by their name in the API. The view adds `wa_fastid`, `owner` and the object `parent_community`. */
const table = {
  id: column('text', 'id'),
  wa_chatid: column('text', 'chatId'),
  wa_chatlid: column('text', 'chatLid'),
  wa_archived: column('boolean', 'archived'),
  wa_contactName: column('text', 'contactName'),
  wa_name: column('text', 'pushName'),
  name: column('text', 'name'),
  image: column('text', 'image'),
  imagePreview: column('text', 'imagePreview'),
  wa_ephemeralExpiration: column('number', 'ephemeralExpiration'),
  wa_isBlocked: column('boolean', 'blocked'),
  wa_isGroup: column('boolean', 'isGroup'),
  wa_isGroup_admin: column('boolean', 'groupAdmin'),
  wa_isGroup_announce: column('boolean', 'groupAnnounce'),
  wa_isGroup_community: column('boolean', 'groupCommunity'),
  wa_isGroup_member: column('boolean', 'groupMember'),
  wa_isPinned: column('boolean', 'pinned'),
  wa_label: column('list', 'labels'),
  wa_notes: column('text', 'notes'),
  wa_lastMessageTextVote: column('text', 'lastMessageText'),
  wa_lastMessageType: column('text', 'lastMessageType'),
  wa_lastMessageSender: column('text', 'lastMessageSender'),
  wa_lastMsgTimestamp: column('number', 'lastMessageTimestamp'),
  wa_muteEndTime: column('number', 'muteEndTime'),
  wa_unreadCount: column('number', 'unreadCount'),
  phone: column('text', 'phone'),
  common_groups: extra('text'),
  lead_name: extra('text'),
  lead_fullName: extra('text'),
  lead_email: extra('text'),
  lead_personalid: extra('text'),
  lead_status: extra('text'),
  lead_tags: extra('list'),
  lead_notes: extra('text'),
  lead_isTicketOpen: extra('boolean'),
  lead_assignedAttendant_id: extra('text'),
  lead_kanbanOrder: extra('number'),
  lead_field01: extra('text'),
  lead_field02: extra('text'),
  lead_field03: extra('text'),
  lead_field04: extra('text'),
  lead_field05: extra('text'),
  lead_field06: extra('text'),
  lead_field07: extra('text'),
  lead_field08: extra('text'),
  lead_field09: extra('text'),
  lead_field10: extra('text'),
  lead_field11: extra('text'),
  lead_field12: extra('text'),
  lead_field13: extra('text'),
  lead_field14: extra('text'),
  lead_field15: extra('text'),
  lead_field16: extra('text'),
  lead_field17: extra('text'),
  lead_field18: extra('text'),
  lead_field19: extra('text'),
  lead_field20: extra('text'),
  chatbot_agentResetMemoryAt: extra('number'),
  chatbot_lastTrigger_id: extra('text'),
  chatbot_lastTriggerAt: extra('number'),
  chatbot_disableUntil: extra('number'),
} as const;

/** The values of all fields, by their name in the API. */
export type ChatValues = { readonly [Name in keyof typeof table]: Values[(typeof table)[Name]['type']] };

/** A change of the fields that integrators keep about a chat. */
export type LeadWish = Partial<
  Pick<ChatValues, Extract<keyof ChatValues, `lead_${string}`> | 'chatbot_agentResetMemoryAt' | 'chatbot_disableUntil'>
>;

type InTable = Exclude<(typeof table)[keyof typeof table]['key'], null>;

/** The table, checked by the compiler. This declaration does not compile if a field of the model has no line in the table. */
const whole: Readonly<Record<string, ChatField>> & (ChatKey extends InTable ? unknown : never) = table;
export const chatFields: Readonly<Record<string, ChatField>> = whole;

const emptyValues: Values = { text: '', number: 0, boolean: false, list: Object.freeze([]) };

export const emptyValueOf = ({ type }: ChatField): Values[FieldType] => emptyValues[type];

/**
 * Fields that integrators keep about a chat, in the order of the table: the lead fields, the time from which an agent remembers, and the end
 * of a pause of the chatbot.
 */
export const leadFields = (Object.keys(chatFields) as (keyof ChatValues)[]).filter(
  (name): name is keyof LeadWish => name.startsWith('lead_') || name === 'chatbot_agentResetMemoryAt' || name === 'chatbot_disableUntil',
);

/** The field by which chats are counted for each attendant. */
export const attendantField = 'lead_assignedAttendant_id' satisfies keyof typeof table;

/** The lead field whose texts are joined when two chats of one person become one. */
export const leadNotesField = 'lead_notes' satisfies keyof typeof table;

const rows = Object.entries(chatFields);

/** The fields that have a column, by their name in the model. */
export const chatColumns = Object.fromEntries(rows.flatMap(([, { type, key }]) => (key === null ? [] : [[key, type]]))) as Readonly<
  Record<ChatKey, FieldType>
>;

/** A chat without any known facts. */
export const emptyChat = {
  ...Object.fromEntries(rows.flatMap(([, field]) => (field.key === null ? [] : [[field.key, emptyValueOf(field)]]))),
  extra: Object.freeze({}),
} as unknown as Chat;
