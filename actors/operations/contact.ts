/** What the platform can be asked about the address book. Contacts are named by their phone jid. */

export interface ContactOperations {
  /** Saves somebody under a name, on the phone and all devices. */
  'contact.save': { readonly input: { readonly chatId: string; readonly name: string }; readonly answer: null };
  'contact.remove': { readonly input: { readonly chatId: string }; readonly answer: null };
}
