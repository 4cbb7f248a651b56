/** People whom an account knows: those of its address book, and those whose name the platform has reported. */

/** Unique by (instance, contactId). */
export interface Contact {
  /** The phone jid where it is known, else the LID. */
  readonly contactId: string;
  /** '' when it is not known, or is the id. */
  readonly lid: string;
  /** As the account's owner saved it; '' for people who are not in the address book. */
  readonly name: string;
  /** As the person wants to be called; '' when it is not known. */
  readonly pushName: string;
}

export const contactScopes = ['address_book', 'outside_address_book', 'all'] as const;

export type ContactScope = (typeof contactScopes)[number];
