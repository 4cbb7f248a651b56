/** Gateway methods for the address book. */
import type { Contact, InstanceId, Result } from '../model.ts';
import type { ContactPage, ContactQuery } from '../ports.ts';

export interface ContactFace {
  contacts(id: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Saves a person in the phone's address book under a name, or renames the person. An unknown number is looked up first. */
  saveContact(id: InstanceId, number: string, name: string): Promise<Result<Contact>>;
  /** Removes a person from the address book, and returns the removed contact. Refuses with `notFound` for a person outside the address book. */
  removeContact(id: InstanceId, number: string): Promise<Result<Contact>>;
}
