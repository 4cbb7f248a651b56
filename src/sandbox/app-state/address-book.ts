/** The address books, as the records of contacts tell them. */
import type { Digits } from '../face.ts';
import type { Parts } from '../parts.ts';

export const addressBookHas = ({ appState, people }: Pick<Parts, 'appState' | 'people'>, owner: Digits, other: Digits): boolean =>
  appState.entries(owner).some(({ collection, action: { index } }) => {
    const contact = collection === 'critical_unblock_low' && index[0] === 'contact';
    return contact && people.resolve(index[1])?.person.number === other;
  });
