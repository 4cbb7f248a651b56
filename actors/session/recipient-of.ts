/** Whom a message goes to, whichever way the client spells it: looked up at the platform when it is a stranger. */
import { done, type Result } from '../model.ts';
import type { Cell } from './cell.ts';
import { performIn } from './perform.ts';

export interface Recipient {
  /** The id under which the chat is kept. */
  readonly chatId: string;
  /** The number to compose the message for. */
  readonly number: string;
}

/** On a live session. Refused as `PlatformLink.chatOf` and `Recipients.resolve` say. */
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
