/** A message as the interface spells it: in answers (specification 2.5) and in events. Runs once a message: one object, nothing else. */
import type { CallPeer, Chat, Message, PostMarks } from '#actors/model.ts';
import { chatView } from './chat.ts';
import { aiMetadataView } from './chatbot.ts';
import { contentView } from './content.ts';

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
  // A call's content is its view already.
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

/** The names are those of the lists of posts. */
const postOf = ({ serverId, views, reactions }: PostMarks) => ({ serverid: serverId, viewsCount: views, reactionCounts: reactions });

const peerOf = ({ chatId, name, image }: CallPeer) => ({ callPeer: { jid: chatId, name, imagePreviewUrl: image } });

/**
 * Makes the view of a message. Every field is always present, except for `callPeer` (calls) and the number, views and reactions of a post. `content` and
 * `sendPayload` are an object or a text, '' if there is none. `now`: Unix milliseconds; without it the message counts as new and not pinned.
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

/** `<owner>:<messageid>`, the form of message ids in events. */
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

/** The `messages` event. */
export const messageEventView = (message: Message, chat: Chat, owner: string) => ({
  chatSource: 'updated',
  chat: chatView(chat, owner),
  message: eventMessageView(message, owner),
});
