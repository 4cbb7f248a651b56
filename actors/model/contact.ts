/** People whom an account knows: entries of its address book, and people whose name the platform has reported. */

/** A known person; unique by (instance, contactId). */
export interface Contact {
  /** The phone jid if it is known, else the LID. */
  readonly contactId: string;
  /** The LID; '' if unknown or equal to `contactId`. */
  readonly lid: string;
  /** The name in the owner's address book; '' for people outside the address book. */
  readonly name: string;
  /** The name that the person chose; '' if unknown. */
  readonly pushName: string;
}

export const contactScopes = ['address_book', 'outside_address_book', 'all'] as const;

export type ContactScope = (typeof contactScopes)[number];
