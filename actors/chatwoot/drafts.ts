/** Drafts the messages that events become in Chatwoot. Pure functions. */
import type { ToldChat, ToldMessage } from '../model.ts';
import { textOf, whoOf, withSender } from './texts.ts';

export interface Draft {
  /** Id of the message on the platform, with a suffix for a note about the message. */
  readonly key: string;
  readonly text: string;
  readonly incoming: boolean;
  /** True for a note for agents about a message that is already in Chatwoot. A note opens no conversation. */
  readonly isNote: boolean;
  /** Id of the message that this message answers or describes, or ''. */
  readonly about: string;
  readonly hasFile: boolean;
}

/** Kinds of media that have a file. */
const files: ReadonlySet<string> = new Set(['image', 'video', 'gif', 'ptt', 'audio', 'document', 'sticker', 'ptv']);

/** True for chats with people or groups. */
const isConversation = (chatId: string): boolean => /@(?:s\.whatsapp\.net|lid|g\.us)$/.test(chatId);

/** Kinds of messages without content for agents. Only phones show their effects. */
const silent = /^(?:PinInChat|KeepInChat|Protocol|EncReaction|EncComment|SenderKeyDistribution|UnknownMessageType)/;

const noteOf = (message: ToldMessage, { name }: ToldChat): string => {
  const who = whoOf(message, name);
  if (message.type === 'reaction') return message.text === '' ? `${who} removed the reaction` : `${who} reacted with ${message.text}`;
  return `${who} voted: ${message.vote}`;
};

const note = (message: ToldMessage, chat: ToldChat, about: string): Draft => ({
  key: message.messageId,
  text: noteOf(message, chat),
  incoming: false,
  isNote: true,
  about,
  hasFile: false,
});

/** Returns null if there is nothing to show to agents. */
export function draftOf(message: ToldMessage, chat: ToldChat): Draft | null {
  if (message.messageId === '' || !isConversation(message.chatId)) return null;
  if (message.type === 'reaction') return note(message, chat, message.reaction);
  if (message.vote !== '' && message.type === 'poll') return note(message, chat, message.quoted);
  const hasFile = files.has(message.mediaType) && message.edited === '';
  const words = textOf(message);
  if (words === '' && !hasFile && (silent.test(message.messageType) || message.messageType === '')) return null;
  const text = words === '' && !hasFile ? `[${message.messageType}]` : words;
  const body = message.edited === '' ? text : `Edited: ${text}`;
  return {
    key: message.messageId,
    text: withSender(message, body).trimEnd(),
    incoming: !message.fromMe,
    isNote: false,
    about: message.edited || message.quoted,
    hasFile,
  };
}

export const deletedDraft = (messageId: string, fromMe: boolean): Draft => ({
  key: `${messageId}:deleted`,
  text: `${fromMe ? 'The account' : 'The contact'} deleted this message`,
  incoming: false,
  isNote: true,
  about: messageId,
  hasFile: false,
});
