/** Records of the shared state that the library has no event for. What stands in no row here has no place in the interface. */
import type { Entry } from '#actors/model.ts';
import type { SharedAction } from '../wire/unread-action.ts';
import { chatOf, type Directory } from '../wire/directory.ts';
import { fromAddressBook } from './from-chats.ts';
import { fromCleared, fromDeleted } from './from-erasures.ts';

type Reader = (action: SharedAction, directory: Directory) => Entry[];

const readers: Readonly<Record<string, Reader>> = {
  // With a value that says nothing it was removed.
  contact: ({ index: [, id = ''] }, directory) => fromAddressBook({ id }, directory),
  clearChat: fromCleared,
  deleteChat: fromDeleted,
  note_edit: ({ value: { noteEditAction: note } }, directory) => {
    const { id: chatId } = chatOf(directory, note?.chatJid);
    if (chatId === '') return [];
    const notes = note?.deleted ? '' : (note?.unstructuredContent ?? '');
    return [{ kind: 'chat', chat: { chatId, notes }, create: false, tell: 'chats' }];
  },
  quick_reply: ({ index: [, id = ''], value: { quickReplyAction: reply } }) => {
    if (id === '') return [];
    const { shortcut, message, keywords, count, deleted } = reply ?? {};
    const kept = { id, onPhone: true, shortcut: shortcut ?? '', type: 'text', text: message ?? '', file: '', docName: '' } as const;
    const definition = { of: 'quickReply', value: { ...kept, keywords: keywords ?? [], count: count ?? 0 } } as const;
    return [deleted ? { kind: 'definitionGone', definition } : { kind: 'definition', definition }];
  },
};

export const fromSharedAction = (action: SharedAction, directory: Directory): Entry[] => {
  const name = action.index[0] ?? '';
  return Object.hasOwn(readers, name) ? (readers[name]?.(action, directory) ?? []) : [];
};

/** The ids of people in a record, whose other address has to be known before it is read. */
export const jidsOfSharedAction = ({ index, value }: SharedAction): readonly string[] => [
  index[1] ?? '',
  value.noteEditAction?.chatJid ?? '',
];
