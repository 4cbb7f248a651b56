/** Storage of contacts, as questions are asked of them. The journal writes them. */
import type { Contact, ContactScope, InstanceId } from '../model.ts';

export interface ContactQuery {
  readonly scope: ContactScope;
  readonly limit: number;
  readonly offset: number;
}

export interface ContactPage {
  readonly contacts: readonly Contact[];
  /** All contacts of the scope. */
  readonly total: number;
  /** All contacts in the address book. */
  readonly saved: number;
}

export interface ContactStore {
  /** Those in the address book in the order of their names, others in that of their ids. */
  list(instance: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** The contact in the address book under one of these ids, numbers or LIDs; null when there is none. */
  saved(instance: InstanceId, ids: readonly string[]): Promise<Contact | null>;
}
