/** Labels: what they are called, and which chats have them. */
import type { BaileysEventMap } from '@whiskeysockets/baileys';
import type { Entry, Label } from '#actors/model.ts';
import { chatOf, type Directory } from '../wire/directory.ts';

export const labelOf = ({ id, name, color, deleted }: Partial<BaileysEventMap['labels.edit']>): Label => ({
  id: id ?? '',
  name: name ?? '',
  color: color ?? 0,
  deleted: deleted ?? false,
});

export const fromLabelEdit = (edit: BaileysEventMap['labels.edit']): Entry => ({
  kind: 'news',
  lane: 'labels',
  news: { type: 'labels', label: labelOf(edit) },
});

/** Labels of single messages are left out: nothing in the interface shows them. */
export const fromAssociation = ({ association, type }: BaileysEventMap['labels.association'], directory: Directory): Entry[] => {
  if ('messageId' in association) return [];
  const { id: chatId } = chatOf(directory, association.chatId);
  return [{ kind: 'chatLabel', chatId, labelId: association.labelId, labeled: type === 'add' }];
};
