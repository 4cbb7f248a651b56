/** Finds the recipient of a message in any spelling. An unknown number is looked up on the platform. */
import { done, type Result } from '../model.ts';
import type { Cell } from './cell.ts';
import { performIn } from './perform.ts';

export interface Recipient {
  /** The id under which the chat is stored. */
  readonly chatId: string;
  /** The number for which the message is composed. */
  readonly number: string;
}

/** Returns the recipient. Needs a live session. Refuses as `PlatformLink.chatOf` and `Recipients.resolve` do. */
export async function recipientOf(cell: Cell, signal: AbortSignal, number: string): Promise<Result<Recipient>> {
  const chat = cell.link.chatOf(number);
  if (!chat.ok) return chat;
  const { chatId, certain } = chat.value;
  if (!certain) {
    const resolved = await performIn(cell, signal, 'chat.resolve', { number });
    return resolved.ok ? done({ chatId: resolved.value, number }) : resolved;
  }
  const found = await cell.recipients.resolve(chat.value, (numbers) => performIn(cell, signal, 'chat.lookUp', { numbers }));
  if (!found.ok) return found;
  return done({ chatId: found.value, number: found.value === chatId ? number : found.value });
}
