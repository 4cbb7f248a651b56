/** What the gateway offers on the address book. */
import type { Contact, InstanceId, Result } from '../model.ts';
import type { ContactPage, ContactQuery } from '../ports.ts';

export interface ContactFace {
  contacts(id: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Saves a person in the address book of the phone under a name, or renames them. A stranger's number is looked up first. */
  saveContact(id: InstanceId, number: string, name: string): Promise<Result<Contact>>;
  /** Takes a person out of the address book; answers with what stood there. `notFound` for somebody who is not in it. */
  removeContact(id: InstanceId, number: string): Promise<Result<Contact>>;
}
