/** Queries of stored contacts. The journal writes contacts. */
import type { Contact, ContactScope, InstanceId } from '../model.ts';

export interface ContactQuery {
  readonly scope: ContactScope;
  readonly limit: number;
  readonly offset: number;
}

export interface ContactPage {
  readonly contacts: readonly Contact[];
  /** The number of all contacts of the scope. */
  readonly total: number;
  /** The number of all contacts in the address book. */
  readonly saved: number;
}

export interface ContactStore {
  /** Returns a page of contacts. Contacts in the address book are sorted by name, others by id. */
  list(instance: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Returns the contact in the address book under one of these ids, numbers or LIDs; null if there is none. */
  saved(instance: InstanceId, ids: readonly string[]): Promise<Contact | null>;
}
