/** Operations on the account itself, on pictures, and on calls. */
import type { AccountLimits, Picture, PictureKind, PrivacySettings } from '../model.ts';

/** Operations on the account itself. */
export interface AccountOperations {
  /** Sets the presence of the account. Resolves when the stanza is written, because the platform does not answer it. */
  'account.presence': { readonly input: { readonly presence: 'available' | 'unavailable' }; readonly answer: null };
  /** Asks for the limits on beginning new chats. */
  'account.limits': { readonly input: null; readonly answer: AccountLimits };
  /** Asks for the current privacy settings. */
  'account.privacy': { readonly input: null; readonly answer: PrivacySettings };
  /** Changes the given privacy settings one by one, and returns all settings. A refusal names the setting that failed. */
  'account.changePrivacy': { readonly input: PrivacySettings; readonly answer: PrivacySettings };
  /** Sets the account's picture, a square JPEG; null removes the picture. The link then updates the record of the instance by `platform.identity`. */
  'account.picture': { readonly input: { readonly jpeg: Uint8Array | null }; readonly answer: null };
  /** Changes the name that others see. The link then updates the record of the instance by `platform.identity`. */
  'account.rename': { readonly input: { readonly name: string }; readonly answer: null };
}

/** Operations on pictures. */
export interface PictureOperations {
  /** Asks for the picture of a person or group, by chat id. A hidden or absent picture is an ordinary answer. */
  'picture.look': { readonly input: { readonly id: string; readonly kind: PictureKind }; readonly answer: Picture };
}

/** Operations on calls. */
export interface CallOperations {
  /**
   * Rejects a ringing call: the one with this id, the one from this number, or the last one if both are ''. Refuses with `notFound` if no such call
   * rings.
   */
  'call.reject': { readonly input: { readonly number: string; readonly id: string }; readonly answer: null };
  /** Places a call. Always refuses a valid number with `notSupported`. */
  'call.make': { readonly input: { readonly number: string }; readonly answer: null };
}
