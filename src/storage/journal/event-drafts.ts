/** Builds the events that the entries of a commit cause, with the payloads that webhooks receive. */
import {
  inputTextOf,
  isChannelId,
  longestKeyword,
  statusChat,
  type Chat,
  type Entry,
  type GatewayEvent,
  type Message,
  type Past,
} from '#actors/model.ts';
import {
  callView,
  campaignEventView,
  chatLabelsView,
  chatView,
  confirmations,
  contactView,
  deletedView,
  downloadedView,
  eventMessageView,
  historyView,
  labelView,
  messageEventView,
  newsView,
  starredView,
  statusView,
} from '#src/contract/views.ts';

/** An event before it has an id, an instance and a time. */
export type EventDraft = Pick<GatewayEvent, 'type' | 'messageType' | 'lane' | 'message' | 'payload'>;

type StatusEntry = Extract<Entry, { kind: 'status' }>;
type DeletedEntry = Extract<Entry, { kind: 'deleted' }>;
type StarredEntry = Extract<Entry, { kind: 'starred' }>;
type DownloadedEntry = Extract<Entry, { kind: 'downloaded' }>;
type NewsEntry = Extract<Entry, { kind: 'news' }>;
type CampaignEntry = Extract<Entry, { kind: 'campaign' }>;
type EventEntry = Extract<Entry, { kind: 'event' }>;
type HistoryEntry = Extract<Entry, { kind: 'history' }>;

export const isGroupId = (chatId: string): boolean => chatId.endsWith('@g.us');

const summaryOf = (message: Message): EventDraft['message'] => {
  const { fromMe, isGroup, wasSentByApi, messageId, trackSource } = message;
  const words = inputTextOf(message);
  return { fromMe, isGroup, wasSentByApi, messageId, trackSource, keyword: words.length > longestKeyword ? '' : words };
};

export const messageDraft = (message: Message, chat: Chat, owner: string): EventDraft => ({
  type: isChannelId(message.chatId) ? 'newsletter_messages' : 'messages',
  messageType: message.messageType,
  lane: message.chatId,
  message: summaryOf(message),
  payload: messageEventView(message, chat, owner),
});

/** Builds the event of an edited channel post. The post names itself as the edited message, because the platform gives an edit no separate id. */
export const editedPostDraft = (post: Message, chat: Chat, owner: string): EventDraft =>
  messageDraft({ ...post, edited: post.messageId }, chat, owner);

const aboutChat = (type: EventDraft['type'], lane: string, payload: EventDraft['payload']): EventDraft => ({
  type,
  messageType: '',
  lane,
  message: null,
  payload,
});

/** Builds the event of a changed chat. `tell`: the event type that the entry names. */
export const chatDraft = (tell: 'chats' | 'contacts' | 'chat_labels', chat: Chat, owner: string): EventDraft => {
  if (tell === 'contacts') return aboutChat(tell, chat.chatId, { contact: contactView(chat) });
  return aboutChat(tell, chat.chatId, { chat: tell === 'chats' ? chatView(chat, owner) : chatLabelsView(chat) });
};

type Items = Parameters<typeof historyView>[1];

/** The new messages and chats of a part of the history. All other items of the history always count as new. */
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
      // Deleted labels are stored, so that their ids are not used again.
      return past.items.filter(({ deleted }) => !deleted).map((label) => labelView(label, owner));
    case 'calls':
      return past.items.map(callView);
    case 'status':
      return past.items.map((message) => eventMessageView(message, owner));
  }
};

/** Builds the event of a part of the history. Returns null if this part has no new items. All parts of a history share a lane, which keeps their order. */
export const historyDraft = (entry: HistoryEntry, news: News, owner: string): EventDraft | null => {
  const items = pastItems(entry.past, news, owner);
  if (items.length === 0) return null;
  return aboutChat('history', 'history', historyView(entry.past.of, items, entry.number, entry.total));
};

/** Returns true if a receipt comes from one of several readers: a member of a group, or a reader of a status post. */
export const isMemberReceipt = ({ status, sender }: StatusEntry, chatId: string): boolean =>
  (isGroupId(chatId) || chatId === statusChat) && sender !== '' && confirmations.has(status);

const factsOf = (
  entry: StatusEntry | DeletedEntry | (StarredEntry & { readonly fromMe: true }),
  chatId: string,
  messageIds: readonly string[],
) => ({
  senderPn: '',
  senderLid: '',
  error: '',
  ...entry,
  chatId,
  isGroup: isGroupId(chatId),
  messageIds,
});

/** Builds one event for all messages whose status a receipt changed. */
export const statusDraft = (entry: StatusEntry, chatId: string, ids: readonly string[]): EventDraft =>
  aboutChat('messages_update', chatId, statusView(entry.status, factsOf(entry, chatId, ids)));

export const deletedDraft = (entry: DeletedEntry, chatId: string): EventDraft =>
  aboutChat('messages_update', chatId, deletedView(factsOf(entry, chatId, [entry.messageId])));

export const starredDraft = (entry: StarredEntry, chatId: string): EventDraft =>
  aboutChat('messages_update', chatId, starredView(entry.starred, factsOf({ ...entry, fromMe: true }, chatId, [entry.messageId])));

export const downloadedDraft = ({ fileUrl, mimetype, at }: DownloadedEntry, message: Message): EventDraft =>
  aboutChat(
    'messages_update',
    message.chatId,
    downloadedView({ ...message, messageIds: [message.messageId], error: '', at }, { fileUrl, mimetype }),
  );

export const newsDraft = ({ lane, news }: NewsEntry): EventDraft => aboutChat(news.type, lane, newsView(news));

/** Builds the event of a campaign. Each campaign has its own lane. */
export const campaignDraft = ({ campaign, status, reason }: CampaignEntry): EventDraft =>
  aboutChat('sender', `campaign ${campaign.id}`, campaignEventView({ ...campaign, status, reason }));

export const passedOn = ({ type, lane, payload }: EventEntry): EventDraft => aboutChat(type, lane, payload);
