/** Finds a stored chat by any of its names, because a number may be written in two forms. */
import type { Chat } from '../model.ts';
import type { ChatStore } from '../ports.ts';
import type { Cell } from './cell.ts';

export async function storedChat({ record, link }: Cell, chats: ChatStore, number: string): Promise<Chat | null> {
  const named = link.chatOf(number);
  for (const name of new Set([number, ...(named.ok ? [named.value.chatId, ...named.value.forms] : [])])) {
    const chat = await chats.get(record.id, name);
    if (chat) return chat;
  }
  return null;
}
