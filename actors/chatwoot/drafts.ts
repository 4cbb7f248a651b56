/** What an event becomes in Chatwoot: pure functions. */
import type { ToldChat, ToldMessage } from '../model.ts';
import { textOf, whoOf, withSender } from './texts.ts';

export interface Draft {
  /** The message here; with a suffix for what is said about one. */
  readonly key: string;
  readonly text: string;
  readonly incoming: boolean;
  /** A note about a message that stands there already, for agents only. It opens no conversation. */
  readonly isNote: boolean;
  /** The message that it answers or is about; '' for none. */
  readonly about: string;
  /** The message has a file. */
  readonly hasFile: boolean;
}

/** Kinds of media that are files. */
const files: ReadonlySet<string> = new Set(['image', 'video', 'gif', 'ptt', 'audio', 'document', 'sticker', 'ptv']);

/** Chats that are no conversation with people. */
const isConversation = (chatId: string): boolean => /@(?:s\.whatsapp\.net|lid|g\.us)$/.test(chatId);

/** Kinds without a word for people: their marks are shown by phones alone. */
const silent = /^(?:PinInChat|KeepInChat|Protocol|EncReaction|EncComment|SenderKeyDistribution|UnknownMessageType)/;

const noteOf = (message: ToldMessage, { name }: ToldChat): string => {
  const who = whoOf(message, name);
  if (message.type === 'reaction') return message.text === '' ? `${who} took the reaction back` : `${who} reacted with ${message.text}`;
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

/** Null when there is nothing for agents to see. */
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
