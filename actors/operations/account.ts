/** What the platform can be asked about the account itself. */

export interface AccountOperations {
  /** Shows the account as there or away. Resolves when the stanza is written: the platform does not answer it. */
  'account.presence': { readonly input: { readonly presence: 'available' | 'unavailable' }; readonly answer: null };
}
