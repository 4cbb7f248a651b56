/** Messages that the owner took out of the phone's chats: cleared, deleted with their chat, or deleted one by one. */
import { isGroupJid } from '../address.ts';
import type { Digits } from '../face.ts';
import type { Parts } from '../parts.ts';
import type { Stored } from '../store/messages.ts';
import { viewSettings } from './view.ts';

const actions: readonly (string | undefined)[] = ['clearChat', 'deleteChat', 'deleteMessageForMe', 'star'];

/** Returns which messages of the account are gone. */
export function erasedOf(
  { appState, people, messages }: Pick<Parts, 'appState' | 'people' | 'messages'>,
  owner: Digits,
): (message: Stored) => boolean {
  const records = appState.entries(owner).filter(({ action }) => actions.includes(action.index[0]));
  if (records.length === 0) return () => false;
  const view = viewSettings(owner, records, {}, { people, messages });
  const chats = new Map(view.chats.map((one) => [one.chat, one]));
  const single = new Set(view.messages.flatMap(({ id, deletedForMe }) => (deletedForMe ? [id] : [])));
  const stars = new Set(view.messages.flatMap(({ id, starred }) => (starred ? [id] : [])));
  return ({ id, chat, at }) => {
    const name = isGroupJid(chat) ? chat : (people.resolve(chat)?.person.number ?? '');
    const { clearedUntil = 0, deletedUntil = 0, keptStarred = false } = chats.get(name) ?? {};
    return single.has(id) || at <= deletedUntil || (at <= clearedUntil && !(keptStarred && stars.has(id)));
  };
}
