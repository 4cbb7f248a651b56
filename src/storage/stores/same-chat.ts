/** One chat by any of its names: a person's messages may be kept under the phone number, the LID, or (from before the number was known) both. */
import { chatIdsOf } from '#src/contract/views.ts';
import { keyText } from '../postgres/texts.ts';

/** The parameter of `sameChatIds`. */
export const chatNames = (name: string): readonly string[] => chatIdsOf(name).map(keyText);

/** A query for the ids of a chat, each found by an index: as it is named in parameter `n`, and the other address that a stored chat has for it. */
export const sameChatIds = (n: number): string => `select unnest($${n}::text[]) as address
  union select chat.chat_id from chat where chat.instance_id = $1 and chat.chat_lid = any($${n}::text[]) and chat.chat_lid <> ''
  union select chat.chat_lid from chat where chat.instance_id = $1 and chat.chat_id = any($${n}::text[]) and chat.chat_lid <> ''`;

/** A condition on chats; `$?` stands for the parameter. */
export const isSameChat = `(chat_id = any($?::text[]) or (chat_lid = any($?::text[]) and chat_lid <> ''))`;
