/** What the platform can be asked about the account itself. */
import type { AccountLimits } from '../model.ts';

export interface AccountOperations {
  /** Shows the account as there or away. Resolves when the stanza is written: the platform does not answer it. */
  'account.presence': { readonly input: { readonly presence: 'available' | 'unavailable' }; readonly answer: null };
  /** How the platform restricts the account from beginning new chats. */
  'account.limits': { readonly input: null; readonly answer: AccountLimits };
}
