/** A chat as the interface spells it (specification 2.4), and the one table of its fields. */
import type { Chat } from '#actors/model.ts';

export type FieldType = 'text' | 'number' | 'boolean' | 'list';

type ChatKey = Exclude<keyof Chat, 'extra'>;

/** `key` names the field of `Chat`; null means that it lives in `extra` under its API name. */
export interface ChatField {
  readonly type: FieldType;
  readonly key: ChatKey | null;
}

const text = (key: ChatKey | null = null): ChatField => ({ type: 'text', key });
const number = (key: ChatKey | null = null): ChatField => ({ type: 'number', key });
const flag = (key: ChatKey | null = null): ChatField => ({ type: 'boolean', key });
const list = (key: ChatKey | null = null): ChatField => ({ type: 'list', key });

const leadFieldNames = Array.from({ length: 20 }, (_, index) => `lead_field${String(index + 1).padStart(2, '0')}`);

/** Everything that is stored about a chat, by API name. `wa_fastid` and `owner` are made on the way out; `parent_community` is an object. */
export const chatFields: Readonly<Record<string, ChatField>> = {
  id: text('id'),
  wa_chatid: text('chatId'),
  wa_chatlid: text('chatLid'),
  wa_archived: flag('archived'),
  wa_contactName: text('contactName'),
  wa_name: text('pushName'),
  name: text('name'),
  image: text('image'),
  imagePreview: text('imagePreview'),
  wa_ephemeralExpiration: number('ephemeralExpiration'),
  wa_isBlocked: flag('blocked'),
  wa_isGroup: flag('isGroup'),
  wa_isGroup_admin: flag('groupAdmin'),
  wa_isGroup_announce: flag('groupAnnounce'),
  wa_isGroup_community: flag('groupCommunity'),
  wa_isGroup_member: flag('groupMember'),
  wa_isPinned: flag('pinned'),
  wa_label: list('labels'),
  wa_notes: text('notes'),
  wa_lastMessageTextVote: text('lastMessageText'),
  wa_lastMessageType: text('lastMessageType'),
  wa_lastMessageSender: text('lastMessageSender'),
  wa_lastMsgTimestamp: number('lastMessageTimestamp'),
  wa_muteEndTime: number('muteEndTime'),
  wa_unreadCount: number('unreadCount'),
  phone: text('phone'),
  common_groups: text(),
  lead_name: text(),
  lead_fullName: text(),
  lead_email: text(),
  lead_personalid: text(),
  lead_status: text(),
  lead_tags: list(),
  lead_notes: text(),
  lead_isTicketOpen: flag(),
  lead_assignedAttendant_id: text(),
  lead_kanbanOrder: number(),
  ...Object.fromEntries(leadFieldNames.map((name) => [name, text()])),
  chatbot_agentResetMemoryAt: number(),
  chatbot_lastTrigger_id: text(),
  chatbot_lastTriggerAt: number(),
  chatbot_disableUntil: number(),
};

const emptyValues = { text: '', number: 0, boolean: false, list: Object.freeze([]) } as const;

/** The fields that live in `extra`, each with its empty value: the base of every view. */
const emptyExtra: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(chatFields)
    .filter(([, { key }]) => key === null)
    .map(([name, { type }]) => [name, emptyValues[type]]),
);

/** `<owner>:<number>`; the number of a group is its id without the suffix. */
export const fastChatId = (owner: string, chatId: string): string =>
  `${owner}:${chatId.slice(0, (chatId.indexOf('@') + 1 || Infinity) - 1)}`;

/** Every field is always there, apart from `parent_community`, which only a subgroup has. */
export const chatView = (chat: Chat, owner: string): Record<string, unknown> => {
  const view: Record<string, unknown> = {
    id: chat.id,
    wa_fastid: fastChatId(owner, chat.chatId),
    wa_chatid: chat.chatId,
    wa_chatlid: chat.chatLid,
    wa_archived: chat.archived,
    wa_contactName: chat.contactName,
    wa_name: chat.pushName,
    name: chat.name,
    image: chat.image,
    imagePreview: chat.imagePreview,
    wa_ephemeralExpiration: chat.ephemeralExpiration,
    wa_isBlocked: chat.blocked,
    wa_isGroup: chat.isGroup,
    wa_isGroup_admin: chat.groupAdmin,
    wa_isGroup_announce: chat.groupAnnounce,
    wa_isGroup_community: chat.groupCommunity,
    wa_isGroup_member: chat.groupMember,
    wa_isPinned: chat.pinned,
    wa_label: chat.labels,
    wa_notes: chat.notes,
    wa_lastMessageTextVote: chat.lastMessageText,
    wa_lastMessageType: chat.lastMessageType,
    wa_lastMessageSender: chat.lastMessageSender,
    wa_lastMsgTimestamp: chat.lastMessageTimestamp,
    wa_muteEndTime: chat.muteEndTime,
    wa_unreadCount: chat.unreadCount,
    owner,
    phone: chat.phone,
    ...emptyExtra,
  };
  for (const name in chat.extra) if (name in emptyExtra || name === 'parent_community') view[name] = chat.extra[name];
  return view;
};

/** What a `chat_labels` event tells of a chat. */
export const chatLabelsView = ({ chatId, phone, labels }: Pick<Chat, 'chatId' | 'phone' | 'labels'>) => ({
  wa_chatid: chatId,
  phone,
  wa_label: labels,
});

/** A contact of the address book, as `contacts` events tell it. */
export const contactView = (chat: Pick<Chat, 'chatId' | 'chatLid' | 'phone' | 'contactName' | 'pushName'>) => ({
  jid: chat.chatId,
  lid: chat.chatLid,
  phone: chat.phone,
  contact_name: chat.contactName,
  wa_name: chat.pushName,
});

/** The full id of a chat that a client names by number or by full id: digits get the suffix of contacts. */
export const chatIdOf = (name: string): string => {
  const id = name.trim().replace(/@c\.us$/, '@s.whatsapp.net');
  return /^\+?[\d\s().-]+$/.test(id) ? `${id.replaceAll(/\D/g, '')}@s.whatsapp.net` : id;
};
