/** The `messages_update` event: what became of messages (contract/events.md). */
import type { MessageStatus } from '#actors/model.ts';

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
