/** Edits are messages of their own, and everything that is said about one means the message that it edits. */
import { proto } from '@whiskeysockets/baileys';
import type { Message } from '#actors/model.ts';
import { unwrapped } from './message-kinds.ts';

/** Platform id of the message that a stored one edits; '' when it is no edit. */
const targetOf = ({ edited, raw }: Message): string =>
  edited === '' || raw === null ? '' : (unwrapped(proto.Message.decode(raw))?.protocolMessage?.key?.id ?? '');

/** The stored message with this id; for the id of an edit the message that it edits, as far as that is stored. */
export const originalOf = async (stored: (id: string) => Promise<Message | null>, id: string): Promise<Message | null> => {
  const found = await stored(id);
  const target = found === null ? '' : targetOf(found);
  const original = target === '' ? null : await stored(target);
  return original?.chatId === found?.chatId && original?.fromMe === found?.fromMe ? original : found;
};
