/** The address book as the interface spells it. */
import type { Contact } from '#actors/model.ts';

/** People outside of the address book are called what they call themselves. */
export const bookView = ({ contactId, name, pushName }: Contact) => {
  const shown = name || pushName;
  return { jid: contactId, contact_name: shown, contact_FirstName: shown.trim().split(/\s+/, 1)[0] ?? '' };
};

const digitsOf = (contactId: string): string => contactId.slice(0, contactId.indexOf('@'));

export const savedContactView = ({ contactId, name }: Contact) => ({ jid: contactId, name, phone: digitsOf(contactId) });

export const removedContactView = ({ contactId }: Contact) => ({ jid: contactId, phone: digitsOf(contactId) });
