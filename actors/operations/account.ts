/** What the platform can be asked about the account itself. */
import type { AccountLimits, PrivacySettings } from '../model.ts';

export interface AccountOperations {
  /** Shows the account as there or away. Resolves when the stanza is written: the platform does not answer it. */
  'account.presence': { readonly input: { readonly presence: 'available' | 'unavailable' }; readonly answer: null };
  /** How the platform restricts the account from beginning new chats. */
  'account.limits': { readonly input: null; readonly answer: AccountLimits };
  /** Who may see or do what, as the platform knows it now. */
  'account.privacy': { readonly input: null; readonly answer: PrivacySettings };
  /** Changes what is named, one category after the other; answers with everything as it is afterwards. A refusal names the category that it is about. */
  'account.changePrivacy': { readonly input: PrivacySettings; readonly answer: PrivacySettings };
  /** A square JPEG as the account's picture; null takes it away. The record of the instance follows by the link's identity. */
  'account.picture': { readonly input: { readonly jpeg: Uint8Array | null }; readonly answer: null };
  /** Changes the name that others see. The record of the instance follows by the link's identity. */
  'account.rename': { readonly input: { readonly name: string }; readonly answer: null };
}
