/** The `messages_update` event: what became of messages (contract/events.md). */
import type { Message, MessageStatus, Receipt, ReceiptCounts } from '#actors/model.ts';

/** Statuses that somebody else confirms. */
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
    Timestamp: new Date(update.at).toISOString(),
    // In lower case where the account itself did it.
    Type: update.fromMe ? state.toLowerCase() : state,
    ...(update.error === '' ? {} : { Error: update.error }),
  },
});

/** Confirmations are receipts; any other status is what became of a message. */
export const statusView = (status: MessageStatus, update: Update) => {
  const receipt = update.isGroup ? 'GroupReceipts' : 'ReadReceipt';
  return updateView(confirmations.has(status) ? receipt : 'MessageStatus', status, update);
};

/** `Type` is spelled as a live server does, unlike that of the other updates. */
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

/** One page of what members of a group confirmed of a message. */
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
