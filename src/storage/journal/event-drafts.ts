/** What a change in an instance looks like to integrators (contract/events.md). */
import type { Chat, Entry, GatewayEvent, Message, MessageStatus, Past } from '#actors/model.ts';
import { chatLabelsView, chatView, contactView, eventMessageView, historyView, labelView } from '#src/contract/views.ts';

/** An event before it has an id, an instance and a time. */
export type EventDraft = Pick<GatewayEvent, 'type' | 'messageType' | 'lane' | 'message' | 'payload'>;

type StatusEntry = Extract<Entry, { kind: 'status' }>;
type DeletedEntry = Extract<Entry, { kind: 'deleted' }>;
type EventEntry = Extract<Entry, { kind: 'event' }>;
type HistoryEntry = Extract<Entry, { kind: 'history' }>;

export const isGroupId = (chatId: string): boolean => chatId.endsWith('@g.us');

const isChannelId = (chatId: string): boolean => chatId.endsWith('@newsletter');

export const messageDraft = (message: Message, chat: Chat, owner: string): EventDraft => ({
  type: isChannelId(message.chatId) ? 'newsletter_messages' : 'messages',
  messageType: message.messageType,
  lane: message.chatId,
  message: { fromMe: message.fromMe, isGroup: message.isGroup, wasSentByApi: message.wasSentByApi },
  payload: { chatSource: 'updated', chat: chatView(chat, owner), message: eventMessageView(message, owner) },
});

const aboutChat = (type: EventDraft['type'], lane: string, payload: EventDraft['payload']): EventDraft => ({
  type,
  messageType: '',
  lane,
  message: null,
  payload,
});

/** `tell` as in the entry. */
export const chatDraft = (tell: 'chats' | 'contacts' | 'chat_labels', chat: Chat, owner: string): EventDraft => {
  if (tell === 'contacts') return aboutChat(tell, chat.chatId, { contact: contactView(chat) });
  return aboutChat(tell, chat.chatId, { chat: tell === 'chats' ? chatView(chat, owner) : chatLabelsView(chat) });
};

type Items = Parameters<typeof historyView>[1];

/** What of a part of the past was new; calls, labels and status posts are not stored, so they always are. */
export interface News {
  readonly messages: readonly Message[];
  readonly chats: readonly Chat[];
}

const pastItems = (past: Past, { messages, chats }: News, owner: string): Items => {
  switch (past.of) {
    case 'messages':
      return messages.map((message) => eventMessageView(message, owner));
    case 'chats':
      return chats.map((chat) => chatView(chat, owner));
    case 'chat_labels':
      return chats.map(chatLabelsView);
    case 'labels':
      return past.items.map((label) => labelView(label, owner));
    case 'calls':
      return past.items;
    case 'status':
      return past.items.map((message) => eventMessageView(message, owner));
  }
};

/** Null when there is nothing new in it. All parts of a past share a lane: they have an order. */
export const historyDraft = (entry: HistoryEntry, news: News, owner: string): EventDraft | null => {
  const items = pastItems(entry.past, news, owner);
  if (items.length === 0) return null;
  return aboutChat('history', 'history', historyView(entry.past.of, items, entry.number, entry.total));
};

const confirmations: ReadonlySet<MessageStatus> = new Set(['Delivered', 'Read', 'Played']);

/** Every member of a group confirms for itself, whatever others did before. */
export const isMemberReceipt = ({ status, sender }: StatusEntry, chatId: string): boolean =>
  isGroupId(chatId) && sender !== '' && confirmations.has(status);

/** Confirmations are receipts; the rest is what became of a message. */
const updateType = (status: MessageStatus, isGroup: boolean): string =>
  confirmations.has(status) ? (isGroup ? 'GroupReceipts' : 'ReadReceipt') : 'MessageStatus';

const updateDraft = (
  type: string,
  state: string,
  chatId: string,
  ids: readonly string[],
  who: { readonly sender: string; readonly senderPn: string; readonly senderLid: string; readonly fromMe: boolean; readonly at: number },
  error: string,
): EventDraft => ({
  type: 'messages_update',
  messageType: '',
  lane: chatId,
  message: null,
  payload: {
    type,
    state,
    event: {
      MessageIDs: ids,
      Chat: chatId,
      chatid: chatId,
      Sender: who.sender,
      sender_pn: who.senderPn,
      sender_lid: who.senderLid,
      IsFromMe: who.fromMe,
      IsGroup: isGroupId(chatId),
      Timestamp: new Date(who.at).toISOString(),
      Type: state.toLowerCase(),
      ...(error === '' ? {} : { Error: error }),
    },
  },
});

/** One event for all messages that one receipt moved forward. */
export const statusDraft = (entry: StatusEntry, chatId: string, ids: readonly string[]): EventDraft =>
  updateDraft(updateType(entry.status, isGroupId(chatId)), entry.status, chatId, ids, entry, entry.error ?? '');

export const deletedDraft = (entry: DeletedEntry, chatId: string): EventDraft =>
  updateDraft('DeletedMessage', 'Deleted', chatId, [entry.messageId], { senderPn: '', senderLid: '', ...entry }, '');

export const passedOn = ({ type, lane, payload }: EventEntry): EventDraft => ({ type, messageType: '', lane, message: null, payload });
