/** A chat as the interface spells it (specification 2.4). */
import { identityChangedAt, parentCommunity, type Chat, type ChatStats, type ChatTally, type ParentCommunity } from '#actors/model.ts';

import { chatFields, emptyValueOf, type ChatKey } from './chat-fields.ts';
import { fastChatId } from './chat-id.ts';
import { bareLabelId } from './label.ts';

const fields = Object.entries(chatFields);
const columns: readonly (readonly [name: string, key: ChatKey])[] = fields.flatMap(([name, { key }]) =>
  key === null ? [] : [[name, key]],
);
const others: ReadonlySet<string> = new Set(fields.flatMap(([name, { key }]) => (key === null ? [name] : [])));

const communityView = ({ id, name, image, preview, defaultGroup }: ParentCommunity) => ({
  jid: id,
  name,
  image_url: image,
  image_preview_url: preview,
  default_subgroup_jid: defaultGroup,
});

/** Copied for every view: to give an object its many names one by one takes three times as long. */
const emptyView: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(fields.map(([name, field]) => [name, emptyValueOf(field)])),
  wa_fastid: '',
  owner: '',
};

/** Every field is always there, apart from `parent_community`, which only a subgroup has, and `wa_identityChangedAt`, of a contact whose phone got other keys. */
export const chatView = (chat: Chat, owner: string): Record<string, unknown> => {
  const view = { ...emptyView };
  for (const [name, key] of columns) view[name] = chat[key];
  view['wa_fastid'] = fastChatId(owner, chat.chatId);
  view['owner'] = owner;
  for (const name in chat.extra) if (others.has(name)) view[name] = chat.extra[name];
  const changedAt = chat.extra[identityChangedAt];
  if (changedAt !== undefined) view['wa_identityChangedAt'] = changedAt;
  const community = chat.extra[parentCommunity];
  if (community) view['parent_community'] = communityView(community as ParentCommunity);
  return view;
};

/** The fields of a chat in a list of chats: what a row of such a list shows. */
export const compactFields = [
  'id',
  'wa_chatid',
  'wa_chatlid',
  'wa_fastid',
  'owner',
  'name',
  'wa_name',
  'wa_contactName',
  'phone',
  'image',
  'imagePreview',
  'wa_isGroup',
  'wa_archived',
  'wa_isPinned',
  'wa_isBlocked',
  'wa_muteEndTime',
  'wa_label',
  'wa_unreadCount',
  'wa_lastMsgTimestamp',
  'wa_lastMessageTextVote',
  'wa_lastMessageType',
  'wa_lastMessageSender',
  'lead_name',
  'lead_status',
  'lead_tags',
  'lead_isTicketOpen',
  'lead_assignedAttendant_id',
  'lead_kanbanOrder',
] as const;

export const compactChatView = (chat: Chat, owner: string): Record<string, unknown> => {
  const view = chatView(chat, owner);
  return Object.fromEntries(compactFields.map((name) => [name, view[name]]));
};

const byCount = ([a, x]: readonly [string, ChatTally], [b, y]: readonly [string, ChatTally]): number =>
  y.total - x.total || (a < b ? -1 : 1);

/** The counts of `totalChatsStats`. In the lists the most frequent comes first. */
export const chatStatsView = ({ kinds, labels, attendants }: ChatStats) => ({
  total_chats: kinds.all,
  open_chats: kinds.open,
  archived_chats: kinds.archived,
  group_chats: kinds.groups,
  blocked_chats: kinds.blocked,
  label_counts: [...labels].toSorted(byCount).map(([label, tally]) => ({ label, labelid: bareLabelId(label), ...tally })),
  attendant_counts: [...attendants].toSorted(byCount).map(([attendant, tally]) => ({ attendant_id: attendant, ...tally })),
});

/** The view of a chat in a `chat_labels` event. */
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
