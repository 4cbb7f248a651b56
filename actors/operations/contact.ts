/** Operations on the address book. Contacts are identified by their phone jid. */

export interface ContactOperations {
  /** Saves a person under a name, on the phone and all devices. */
  'contact.save': { readonly input: { readonly chatId: string; readonly name: string }; readonly answer: null };
  'contact.remove': { readonly input: { readonly chatId: string }; readonly answer: null };
}
