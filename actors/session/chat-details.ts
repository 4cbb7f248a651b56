/** Collects the details of a chat: its stored data, its picture, its business name, and the groups in common with the account. */
import type { ChatDetails } from '../views.ts';
import { done, type PictureKind, type Result } from '../model.ts';
import type { Identified } from '../operations.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from './cell.ts';
import { performIn } from './perform.ts';
import { recipientOf } from './recipient-of.ts';

/** Returns null if the chat is not a person. */
async function businessNameOf(cell: Cell, signal: AbortSignal, { id, kind }: Identified): Promise<string | null> {
  const chat = kind === 'person' ? cell.link.chatOf(id) : null;
  if (!chat?.ok || chat.value.forms.length === 0) return kind === 'person' ? null : '';
  return cell.recipients.businessName({ chatId: id, forms: [id] }, (numbers) => performIn(cell, signal, 'chat.lookUp', { numbers }));
}

/** Returns the details of a chat. Needs a live session. */
export async function detailsOf(
  ports: Pick<Ports, 'chats' | 'groups'>,
  cell: Cell,
  signal: AbortSignal,
  { number, kind }: { readonly number: string; readonly kind: PictureKind },
): Promise<Result<ChatDetails>> {
  const recipient = await recipientOf(cell, signal, number);
  if (!recipient.ok) return recipient;
  const { chatId } = recipient.value;
  const identified = await performIn(cell, signal, 'chat.identify', { ids: [chatId] });
  if (!identified.ok) return identified;
  const [who] = identified.value;
  const lid = who?.lid ?? '';
  const isPerson = who?.kind === 'person' || who?.kind === 'lid';
  const instance = cell.record.id;
  const [chat, commonGroups, picture, businessName] = await Promise.all([
    ports.chats.get(instance, chatId),
    isPerson
      ? ports.groups.common(
          instance,
          [...new Set([chatId, lid])].filter((one) => one !== ''),
        )
      : [],
    cell.pictures.look(chatId, kind, false),
    who ? businessNameOf(cell, signal, who) : null,
  ]);
  return done({ chatId, lid, chat, picture: picture.ok ? { ...picture.value, kind } : null, businessName, commonGroups });
}
