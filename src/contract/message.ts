/** The API representation of messages: their content, whole messages in answers and in events, and their outcomes. */
import type { CallPeer, Chat, Message, MessageStatus, PostMarks, Receipt, ReceiptCounts } from '#actors/model.ts';
import { chatView } from './chat.ts';
import { aiMetadataView } from './chatbot.ts';
import { isoTime } from './formats.ts';

// The spelling of content fields that clients read: `URL`, `fileSHA256`, `stanzaID`.

/** Words that the interface writes in capitals inside field names. */
const capitals = new Set(['url', 'sha256', 'jid', 'id', 'ms', 'ptt', 'iv', 'jpeg', 'png', 'json']);

const spell = (name: string): string =>
  name
    .split(/(?=[A-Z])/)
    .map((word) => (capitals.has(word.toLowerCase()) ? word.toUpperCase() : word))
    .join('');

/** Cached spellings. All field names are from the protocol's schema, so the cache has a few hundred entries at most. */
const spellings = new Map<string, string>();

export const spelled = (name: string): string => {
  let known = spellings.get(name);
  if (known === undefined) {
    known = spell(name);
    spellings.set(name, known);
  }
  return known;
};

/** Returns the content with the interface's spelling of every field name. A name that already has this spelling stays unchanged. */
export const contentView = (content: unknown): unknown => {
  if (typeof content !== 'object' || content === null) return content;
  if (Array.isArray(content)) return content.map(contentView);
  const view: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(content)) {
    view[spelled(name)] = contentView(field);
    // Clients read the label of a tapped button from this field.
    if (name === 'selectedDisplayText') view['Response'] = { SelectedDisplayText: field };
  }
  return view;
};

// The API representation of a message in answers and in events. This code runs for every message, so it makes only one object.

const noMetadata = Object.freeze({});

const fieldsOf = (message: Message, owner: string, now: number) => ({
  id: message.id,
  messageid: message.messageId,
  chatid: message.chatId,
  sender: message.sender,
  senderName: message.senderName,
  sender_pn: message.senderPn || null,
  sender_lid: message.senderLid || null,
  isGroup: message.isGroup,
  fromMe: message.fromMe,
  messageType: message.messageType,
  source: message.source,
  messageTimestamp: message.timestamp,
  status: message.status,
  text: message.text,
  quoted: message.quoted,
  edited: message.edited,
  reaction: message.reaction,
  vote: message.vote,
  convertOptions: message.convertOptions,
  buttonOrListid: message.buttonOrListId,
  owner,
  error: message.error,
  // The content of a call already has the form of the view.
  content: (message.messageType === 'call' ? message.content : contentView(message.content)) ?? '',
  wasSentByApi: message.wasSentByApi,
  sendFunction: message.sendFunction,
  sendPayload: message.sendPayload ?? '',
  fileURL: message.fileUrl,
  pinned: message.pinnedUntil > now,
  starred: message.starred ?? false,
  send_folder_id: message.sendFolderId ?? '',
  track_source: message.trackSource,
  track_id: message.trackId,
  ai_metadata: message.aiMetadata ? aiMetadataView(message.aiMetadata) : noMetadata,
});

/** Makes the fields of a post, with the same names as in lists of posts. */
const postOf = ({ serverId, views, reactions }: PostMarks) => ({ serverid: serverId, viewsCount: views, reactionCounts: reactions });

const peerOf = ({ chatId, name, image }: CallPeer) => ({ callPeer: { jid: chatId, name, imagePreviewUrl: image } });

/**
 * Makes the view of a message. Every field is always present, except for `callPeer` (calls) and the number, views and reactions of a post. `content` and
 * `sendPayload` are an object or a text; '' if there is none. `now`: Unix milliseconds. Without `now`, the message counts as not pinned.
 */
export const messageView = (
  message: Message,
  owner: string,
  now = Infinity,
): ReturnType<typeof fieldsOf> & Partial<ReturnType<typeof peerOf> & ReturnType<typeof postOf>> => {
  const view = fieldsOf(message, owner, now);
  if (message.peer) return { ...view, ...peerOf(message.peer) };
  return message.post ? { ...view, ...postOf(message.post) } : view;
};

/** Returns `<owner>:<messageid>`, the form of message ids in events. */
export const fullMessageId = (owner: string, messageId: string): string => `${owner}:${messageId}`;

/** Makes the view of a message in an event, with the full id and the fields that only events have. */
export const eventMessageView = (message: Message, owner: string) => ({
  ...messageView(message, owner),
  id: fullMessageId(owner, message.messageId),
  chatlid: message.chatLid,
  groupName: message.groupName || 'Unknown',
  ...(message.senderImage === undefined ? {} : { sender_image_preview_url: message.senderImage }),
  type: message.type,
  mediaType: message.mediaType,
});

/** Makes the body of the `messages` event, apart from the envelope. */
export const messageEventView = (message: Message, chat: Chat, owner: string) => ({
  chatSource: 'updated',
  chat: chatView(chat, owner),
  message: eventMessageView(message, owner),
});

// The `messages_update` event, which reports the outcomes of messages.

/** Statuses that receipts of other people report. */
export const confirmations: ReadonlySet<MessageStatus> = new Set(['Delivered', 'Read', 'Played']);

interface Update {
  readonly chatId: string;
  readonly isGroup: boolean;
  readonly messageIds: readonly string[];
  readonly sender: string;
  readonly senderPn: string;
  readonly senderLid: string;
  readonly fromMe: boolean;
  readonly at: number;
  readonly error: string;
}

const updateView = (type: string, state: string, update: Update) => ({
  type,
  state,
  event: {
    MessageIDs: update.messageIds,
    Chat: update.chatId,
    chatid: update.chatId,
    Sender: update.sender,
    sender_pn: update.senderPn,
    sender_lid: update.senderLid,
    IsFromMe: update.fromMe,
    IsGroup: update.isGroup,
    Timestamp: isoTime(update.at),
    // The type is in lower case if the account itself caused the change.
    Type: update.fromMe ? state.toLowerCase() : state,
    ...(update.error === '' ? {} : { Error: update.error }),
  },
});

/** Makes the event for a status. A status of `confirmations` becomes a receipt. Any other status is an outcome of the message. */
export const statusView = (status: MessageStatus, update: Update) => {
  const receipt = update.isGroup ? 'GroupReceipts' : 'ReadReceipt';
  return updateView(confirmations.has(status) ? receipt : 'MessageStatus', status, update);
};

/** Makes the event for a downloaded file. `Type` is capitalised as in events of live servers, also if the account itself downloaded the file. */
export const downloadedView = (update: Update, { fileUrl, mimetype }: { readonly fileUrl: string; readonly mimetype: string }) => {
  const view = updateView('FileDownloadedMessage', 'FileDownloaded', update);
  return { ...view, event: { ...view.event, Type: 'FileDownloaded', FileURL: fileUrl, MimeType: mimetype } };
};

export const deletedView = (update: Update) => updateView('DeletedMessage', 'Deleted', update);

export const starredView = (starred: boolean, update: Update) => updateView('StarredMessage', starred ? 'Starred' : 'Unstarred', update);

const receiptView = ({ member, memberPn, deliveredAt, readAt, playedAt }: Receipt) => ({
  jid: memberPn || member,
  sender_pn: memberPn || null,
  sender_lid: member.endsWith('@lid') ? member : null,
  state: playedAt > 0 ? ('Played' as const) : readAt > 0 ? ('Read' as const) : ('Delivered' as const),
  deliveredAt,
  readAt,
  playedAt,
});

/** Makes one page of the receipts that members of a group sent for a message. */
export const receiptsView = (
  { id, messageId, chatId }: Message,
  receipts: readonly Receipt[],
  {
    limit,
    offset,
    more,
    counts,
  }: { readonly limit: number; readonly offset: number; readonly more: boolean; readonly counts: ReceiptCounts },
) => ({
  id,
  messageid: messageId,
  chatid: chatId,
  receipts: receipts.map(receiptView),
  counts,
  pagination: { limit, offset, nextOffset: offset + receipts.length, hasMore: more },
});
