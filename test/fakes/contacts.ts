/** The address book in memory. */
import type { Contact, ContactScope } from '#actors/model.ts';
import type { ContactQuery, ContactStore } from '#actors/ports.ts';
import type { ContactOutcome } from '#src/storage/journal/people.ts';
import type { FakeDatabase } from './storage.ts';

export const contactsOf = (db: FakeDatabase, instance: string): Contact[] =>
  [...db.contacts].flatMap(([key, contact]) => (key.startsWith(`${instance} `) ? [contact] : []));

export const putContacts = (db: FakeDatabase, instance: string, { contacts, goneContacts }: ContactOutcome): void => {
  for (const contact of contacts) db.contacts.set(`${instance} ${contact.contactId}`, contact);
  for (const id of goneContacts) db.contacts.delete(`${instance} ${id}`);
};

const isIn: Readonly<Record<ContactScope, (contact: Contact) => boolean>> = {
  address_book: ({ name }) => name !== '',
  outside_address_book: ({ name }) => name === '',
  all: () => true,
};

const textOrder = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export class FakeContacts implements ContactStore {
  readonly #db: FakeDatabase;
  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  list = (instance: string, { scope, limit, offset }: ContactQuery) =>
    this.#db.run('contacts.list', () => {
      const all = contactsOf(this.#db, instance);
      const wanted = all
        .filter(isIn[scope])
        .toSorted((a, b) => (scope === 'address_book' ? textOrder(a.name, b.name) : 0) || textOrder(a.contactId, b.contactId));
      return {
        contacts: wanted.slice(offset, offset + limit),
        total: wanted.length,
        saved: all.filter(isIn.address_book).length,
      };
    });

  saved = (instance: string, ids: readonly string[]) =>
    this.#db.run('contacts.saved', () => {
      const book = contactsOf(this.#db, instance).filter(isIn.address_book);
      return ids.flatMap((id) => book.filter(({ contactId }) => contactId === id))[0] ?? null;
    });
}
