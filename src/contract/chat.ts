/** The API representation of chats and people: chats, their details and ids, the address book, checked numbers. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import {
  type Chat,
  type ChatStats,
  type ChatTally,
  type Contact,
  identityChangedAt,
  numberForms,
  parentCommunity,
  type ParentCommunity,
  type Picture,
  type PictureKind,
} from '#actors/model.ts';
import type { ChatDetails, CheckedNumber } from '#actors/views.ts';
import { chatFields, type ChatKey, type ChatValues, emptyChat, emptyValueOf } from './chat-fields.ts';
import { bareLabelId } from './definitions.ts';

// Ids of chats, in every form that answers of the API use.

/** Returns `<owner>:<number>`, which is the form of `wa_fastid`. The number of a group is its id without the suffix. */
export const fastChatId = (owner: string, chatId: string): string =>
  `${owner}:${chatId.slice(0, (chatId.indexOf('@') + 1 || Infinity) - 1)}`;

/**
 * Maps other server names of a JID to the usual ones. A JID at `hosted` or `hosted.lid` is a device that a provider runs for the same person. `c.us` is the
 * old name of `s.whatsapp.net`.
 */
const servers: Readonly<Record<string, string>> = { 'c.us': 's.whatsapp.net', hosted: 's.whatsapp.net', 'hosted.lid': 'lid' };

/** A phone number as people write it. Phone numbers have at most 15 digits (E.164), and ids of groups have more. */
const writtenNumber = /^\+?[\d\s().-]+$/;
const mostDigits = 15;
const groupNumber = /^\d{16,}$|^\d{5,}-\d{5,}$/;
/** The text before a colon is the owner, unless the colon precedes a device number. */
const withOwner = /^\d{5,}:(?!\d{1,4}(?:@|$))(.+)$/;
const withDevice = /^([\w.-]+?)(?:_\d+)?(?::\d+)?@([\w.]+)$/;

const personServer = 's.whatsapp.net';

/** Returns the possible ids of a person with this number. The platform knows a Brazilian mobile number with or without its ninth digit. */
const ofPerson = (number: string): readonly string[] => numberForms(number).map((form) => `${form}@${personServer}`);

/** Returns the possible ids for a number without a suffix. Such a number does not show the kind of its chat. */
const ofAnyKind = (number: string): readonly string[] => [
  ...ofPerson(number),
  ...['g.us', 'lid', 'newsletter'].map((server) => `${number}@${server}`),
];

/** Returns the chat ids that a client may mean by this text, the most likely id first. */
export const chatIdsOf = (name: string): readonly string[] => {
  const written = name.trim();
  const owned = withOwner.exec(written)?.[1];
  if (owned !== undefined) return owned.includes('@') ? chatIdsOf(owned) : ofAnyKind(owned);
  const [, user, server] = withDevice.exec(written) ?? [];
  if (user !== undefined && server !== undefined) {
    const present = servers[server] ?? server;
    return present === personServer ? ofPerson(user) : [`${user}@${present}`];
  }
  if (groupNumber.test(written)) return ofAnyKind(written);
  const digits = written.replaceAll(/\D/g, '');
  return writtenNumber.test(written) && digits !== '' && digits.length <= mostDigits ? ofPerson(digits) : [written];
};

/**
 * Returns true if a text has the form of a complete chat id, or of `wa_fastid`. A search looks up such a text by index. Digits alone return false,
 * because they may be a complete number or a part of one.
 */
export const isWholeChatId = (text: string): boolean => withOwner.test(text.trim()) || withDevice.test(text.trim());

// The API representation of a chat (`Chat` of the OpenAPI document).

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

/** A template that is copied for every view. Adding its many fields one by one would be three times as slow. */
const emptyView: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(fields.map(([name, field]) => [name, emptyValueOf(field)])),
  wa_fastid: '',
  owner: '',
};

export type ChatView = ChatValues & {
  readonly wa_fastid: string;
  readonly owner: string;
  /** The time at which the contact's identity changed, in Unix milliseconds. */
  readonly wa_identityChangedAt?: number;
  readonly parent_community?: ReturnType<typeof communityView>;
};

/**
 * Makes the view of a chat. Every field is always present, with two exceptions. Only a subgroup has `parent_community`, and only a contact whose
 * encryption keys changed has `wa_identityChangedAt`.
 */
export const chatView = (chat: Chat, owner: string): ChatView => {
  const view: Record<string, unknown> = { ...emptyView };
  for (const [name, key] of columns) view[name] = chat[key];
  view['wa_fastid'] = fastChatId(owner, chat.chatId);
  view['owner'] = owner;
  for (const name in chat.extra) if (others.has(name)) view[name] = chat.extra[name];
  const changedAt = chat.extra[identityChangedAt];
  if (changedAt !== undefined) view['wa_identityChangedAt'] = changedAt;
  const community = chat.extra[parentCommunity];
  if (community) view['parent_community'] = communityView(community as ParentCommunity);
  return view as unknown as ChatView;
};

/** The fields of a compact chat, for lists of chats. */
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

export type CompactChatView = Pick<ChatView, (typeof compactFields)[number]>;

export const compactChatView = (chat: Chat, owner: string): CompactChatView => {
  const view = chatView(chat, owner);
  return Object.fromEntries(compactFields.map((name) => [name, view[name]])) as unknown as CompactChatView;
};

const byCount = ([a, x]: readonly [string, ChatTally], [b, y]: readonly [string, ChatTally]): number =>
  y.total - x.total || (a < b ? -1 : 1);

/** Makes the counts of `totalChatsStats`. The lists begin with the most frequent value. */
export const chatStatsView = ({ kinds, labels, attendants }: ChatStats) => ({
  total_chats: kinds.all,
  open_chats: kinds.open,
  archived_chats: kinds.archived,
  group_chats: kinds.groups,
  blocked_chats: kinds.blocked,
  label_counts: [...labels].toSorted(byCount).map(([label, tally]) => ({ label, labelid: bareLabelId(label), ...tally })),
  attendant_counts: [...attendants].toSorted(byCount).map(([attendant, tally]) => ({ attendant_id: attendant, ...tally })),
});

/** Makes the view of a chat in a `chat_labels` event. */
export const chatLabelsView = ({ chatId, phone, labels }: Pick<Chat, 'chatId' | 'phone' | 'labels'>) => ({
  wa_chatid: chatId,
  phone,
  wa_label: labels,
});

/** Makes the view of a contact of the address book for `contacts` events. */
export const contactView = (chat: Pick<Chat, 'chatId' | 'chatLid' | 'phone' | 'contactName' | 'pushName'>) => ({
  jid: chat.chatId,
  lid: chat.chatLid,
  phone: chat.phone,
  contact_name: chat.contactName,
  wa_name: chat.pushName,
});

// Phone numbers in answers: international and grouped.

const suffix = '@s.whatsapp.net';

/** Returns the phone number of a person; '' for any other chat. A call needs some ten microseconds, so it is called once per chat and not once per message. */
export const phoneOf = (chatId: string): string => {
  if (!chatId.endsWith(suffix)) return '';
  const number = `+${chatId.slice(0, -suffix.length)}`;
  return parsePhoneNumberFromString(number)?.formatInternational() ?? number;
};

// The answers of `/chat/details` and `/chat/avatar`.

const named = ({ id, name }: ChatDetails['commonGroups'][number]): string => `(${name})${id}`;

/** Makes the view of a chat with facts that were looked up for this answer. `is_business` and `business_name` are absent if they are unknown. */
export const chatDetailsView = ({ chatId, lid, chat, picture, businessName, commonGroups }: ChatDetails, owner: string) => {
  const phone = phoneOf(chatId);
  const known = chat ?? { ...emptyChat, chatId, chatLid: lid, phone, name: phone, isGroup: chatId.endsWith('@g.us') };
  return {
    ...chatView(known, owner),
    common_groups: commonGroups.map(named).join(','),
    ...(businessName === null ? {} : { is_business: businessName !== '', business_name: businessName }),
    ...(picture === null ? {} : pictureField(picture.kind, picture.url)),
  };
};

const pictureField = (kind: PictureKind, url: string) => (kind === 'image' ? { image: url } : { imagePreview: url });

/** Makes the view of a picture. The field of the size that was not requested is ''. */
export const avatarView = ({ state, url }: Picture, kind: PictureKind) => ({
  image: '',
  imagePreview: '',
  ...pictureField(kind, url),
  status: state,
});

// The API representation of the address book.

/** Makes the view of a contact. People outside of the address book have the name that they chose. */
export const bookView = ({ contactId, name, pushName }: Contact) => {
  const shown = name || pushName;
  return { jid: contactId, contact_name: shown, contact_FirstName: shown.trim().split(/\s+/, 1)[0] ?? '' };
};

const digitsOf = (contactId: string): string => contactId.slice(0, contactId.indexOf('@'));

export const savedContactView = ({ contactId, name }: Contact) => ({ jid: contactId, name, phone: digitsOf(contactId) });

export const removedContactView = ({ contactId }: Contact) => ({ jid: contactId, phone: digitsOf(contactId) });

// The answer of `/chat/check` for a number or group.

/** Makes the view of a checked number. `isInWhatsapp` is absent if the platform did not answer. `error` then has the reason. */
export const checkedNumberView = ({ query, chatId, lid, exists, businessName, groupName, error }: CheckedNumber) => ({
  query,
  jid: chatId,
  lid,
  ...(exists === null ? {} : { isInWhatsapp: exists }),
  verifiedName: businessName,
  groupName,
  error,
});
